# Dumps the Unicode tables of the reference library (pip install tokenizers) by asking it about every code point:
#   python3 dump.py DIR     writes DIR/classes.bin, DIR/scripts.bin and DIR/sets.json (input of the program ../pack)
import json
import os
import sys

from tokenizers import Regex, normalizers as N, pre_tokenizers as P

out = sys.argv[1]
CATS = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
cps = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
text = "".join(map(chr, cps))


def ranges(pattern):
    """Runs of code points that a class matches."""
    split = P.Split(Regex(pattern + "+"), "removed", invert=True)
    runs = []
    for _, (a, b) in split.pre_tokenize_str(text):
        lo = last = cps[a]
        for i in range(a + 1, b):
            if cps[i] != last + 1:  # the hole of the surrogates
                runs.append((lo, last))
                lo = cps[i]
            last = cps[i]
        runs.append((lo, last))
    return runs


def members(pattern):
    return {c for lo, hi in ranges(pattern) for c in range(lo, hi + 1)}


def uvarint(n):
    b = bytearray()
    while n >= 128:
        b.append(n & 127 | 128)
        n >>= 7
    b.append(n)
    return bytes(b)


# classes.bin: page numbers, then pages of 256 categories; 30, 31, 32 are a control that is white space and a number or symbol that
# is a word character.
cat = bytearray([CATS.index("Cs")]) * 0x110000
for i, name in enumerate(CATS):
    if name != "Cs":
        for c in members(r"\p{%s}" % name):
            cat[c] = i
word, space = members(r"\w"), members(r"\s")
for c in cps:
    name = CATS[cat[c]]
    if name == "Cc" and c in space:
        cat[c] = 30
    elif name in ("No", "So") and c in word:
        cat[c] = 31 if name == "No" else 32
index, pages = bytearray(), {}
for p in range(0x1100):
    index.append(pages.setdefault(bytes(cat[p * 256:p * 256 + 256]), len(pages)))
open(os.path.join(out, "classes.bin"), "wb").write(bytes(index) + b"".join(pages))

# scripts.bin: length and name, number of ranges, ranges as distance from the end of the one before and length.
SCRIPTS = """Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square""".split()
data = b""
for name in sorted(SCRIPTS):
    runs = ranges(r"\p{%s}" % name)
    data += bytes([len(name)]) + name.encode() + uvarint(len(runs))
    last = 0
    for lo, hi in runs:
        data += uvarint(lo - last) + uvarint(hi - lo)
        last = hi
open(os.path.join(out, "scripts.bin"), "wb").write(data)


def single(pre):
    """Characters that a pre-tokenizer makes pieces of their own."""
    joined = "x".join(map(chr, cps))
    return [cps[a // 2] for _, (a, b) in pre.pre_tokenize_str(joined) if b - a == 1 and a % 2 == 0]


def gives(norm, want):
    return [c for c in cps if norm.normalize_str(chr(c)) == want]


bert = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
ws, nfd = P.Whitespace(), N.NFD()
forms = {n: {c: f.normalize_str(chr(c)) for c in cps}
         for n, f in (("NFC", N.NFC()), ("NFD", N.NFD()), ("NFKC", N.NFKC()), ("NFKD", N.NFKD()))}
sets = {
    "numeric": single(P.Digits(individual_digits=True)),
    "punct": single(P.Punctuation("isolated")),
    "word": [c for c in cps if len(ws.pre_tokenize_str("x" + chr(c) + "x")) == 1],
    "accents": gives(N.StripAccents(), ""),
    "bertaccents": gives(N.BertNormalizer(**{**bert, "strip_accents": True}), ""),
    "bertcontrol": gives(N.BertNormalizer(**{**bert, "clean_text": True}), ""),
    # code points with a combining class: they change places with one of another class
    "ccc": [c for c in cps if forms["NFD"][c] == chr(c) and (
        c != 0x334 and nfd.normalize_str("a" + chr(c) + "\u0334") == "a\u0334" + chr(c)
        or nfd.normalize_str("a\u0345" + chr(c)) != "a\u0345" + chr(c))],
}
changed = {n: {c: s for c, s in f.items() if s != chr(c)} for n, f in forms.items()}
json.dump({"sets": sets, "forms": changed}, open(os.path.join(out, "sets.json"), "w"))
