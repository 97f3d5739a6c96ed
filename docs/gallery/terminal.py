"""terminal.py IN.ansi OUT.png [light]: a screen that tmux captured with its colours (capture-pane -e), as a picture.

Needs Pillow and Debian's fonts-dejavu-core. Blocks and lines are drawn as rectangles, so that they meet as in a terminal.
"""
import re
import sys

from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono"
SIZE = 13
SCHEMES = {
    "dark": {"back": (24, 26, 31), "text": (214, 218, 224), "red": (224, 108, 117), "green": (138, 190, 105), "yellow": (222, 184, 96), "cyan": (86, 182, 194)},
    "light": {"back": (255, 255, 255), "text": (40, 42, 46), "red": (190, 30, 40), "green": (20, 120, 40), "yellow": (150, 105, 0), "cyan": (5, 125, 140)},
}
COLOURS = {31: "red", 32: "green", 33: "yellow", 36: "cyan"}
SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)([A-Za-z])|\x1b[()][A-B0]|[\x0e\x0f]|(.)")
FAINT = 0.58  # of the text's own strength


class Pen:
    """What sequences have switched on."""

    def __init__(self):
        self.obey([0])

    def obey(self, codes):
        for code in codes:
            if code == 0:
                self.bold = self.faint = self.reverse = False
                self.colour = "text"
            elif code == 1:
                self.bold = True
            elif code == 2:
                self.faint = True
            elif code == 22:
                self.bold = self.faint = False
            elif code in (7, 27):
                self.reverse = code == 7
            elif code == 39:
                self.colour = "text"
            elif code in COLOURS:
                self.colour = COLOURS[code]


def cells(line, pen):
    """The characters of a line, each with the pen as it is by then: what one line switches on lasts into the next."""
    for found in SEQUENCE.finditer(line):
        if found.group(2) == "m":
            pen.obey([int(code) for code in re.split("[;:]", found.group(1)) if code] or [0])
        elif found.group(3):
            yield found.group(3)


def shape(char, width, height):
    """The rectangles of a block or a line within a cell, None for a letter."""
    code = ord(char)
    middle, centre = height // 2, width // 2
    if 0x2581 <= code <= 0x2588:
        return [(0, height - round(height * (code - 0x2580) / 8), width - 1, height - 1)]
    if 0x2589 <= code <= 0x258F:
        return [(0, height * 0.2, round(width * (0x2590 - code) / 8) - 1, height * 0.85)]
    flat = (0, middle, width - 1, middle + (char == "━"))
    return {
        "─": [flat], "━": [flat], "┬": [flat, (centre, middle, centre, height - 1)], "│": [(centre, 0, centre, height - 1)],
        "└": [(centre, 0, centre, middle), (centre, middle, width - 1, middle)],
    }.get(char)


def picture(lines, scheme):
    plain, bold = (ImageFont.truetype(FONT + kind + ".ttf", SIZE) for kind in ("", "-Bold"))
    width, height, edge = round(plain.getlength("M")), int(SIZE * 1.36), 8
    columns = max(sum(1 for _ in cells(line, Pen())) for line in lines)
    image = Image.new("RGB", (columns * width + 2 * edge, len(lines) * height + 2 * edge), scheme["back"])
    draw = ImageDraw.Draw(image)
    pen = Pen()
    for row, line in enumerate(lines):
        for column, char in enumerate(cells(line, pen)):
            left, top = edge + column * width, edge + row * height
            colour, back = scheme[pen.colour], scheme["back"]
            if pen.faint:
                colour = tuple(int(a * FAINT + b * (1 - FAINT)) for a, b in zip(colour, back))
            if pen.reverse:
                colour, back = back, colour
                draw.rectangle([left, top, left + width - 1, top + height - 1], fill=back)
            parts = shape(char, width, height)
            if parts is None:
                draw.text((left, top), char, font=bold if pen.bold else plain, fill=colour)
            for x1, y1, x2, y2 in parts or []:
                draw.rectangle([left + x1, top + y1, left + x2, top + y2], fill=colour)
    return image.quantize(128, dither=Image.Dither.NONE)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf8") as file:
        screen = file.read().rstrip("\n").split("\n")
    picture(screen, SCHEMES["light" if "light" in sys.argv[3:] else "dark"]).save(sys.argv[2], optimize=True)
