package cli

import (
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// pageWidth is the width of pages that help shows, in columns: that of man pages.
const pageWidth = 96

var (
	markdownLink  = lazyregexp.New(`\[([^\[\]]+)\]\([^)\s]+\)`)
	markdownStart = lazyregexp.New(`^( *)(- |\d+\. )?`)
)

// plainPage turns a page of the documentation into text for a terminal: links become their words, rows of tables become lists, paragraphs are wrapped.
func plainPage(markdown string) string {
	p := &plainText{}
	for line := range strings.Lines(markdown) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
	p.endParagraph()
	return strings.TrimSpace(p.out.String())
}

// plainText is a page as far as it was read.
type plainText struct {
	out       strings.Builder
	paragraph string
	head      []string // cells of the head of the table that is being read
	code      bool
}

func (p *plainText) line(line string) {
	switch {
	case strings.HasPrefix(line, "```"):
		p.endParagraph()
		p.code = !p.code
	case p.code:
		p.out.WriteString("  " + line + "\n")
	case strings.HasPrefix(line, "|"):
		p.row(line)
	case line == "":
		p.endParagraph()
		p.head = nil
		p.out.WriteByte('\n')
	case strings.HasPrefix(line, "#"):
		p.heading(line)
	default:
		p.text(line)
	}
}

// heading writes the title of the page as it is, and every other heading with a colon, from which man pages make their sections.
func (p *plainText) heading(line string) {
	p.endParagraph()
	text := plainWords(strings.TrimLeft(line, "# "))
	if strings.HasPrefix(line, "##") {
		text += ":"
	}
	p.out.WriteString(text + "\n")
}

// text adds a line to the paragraph, or begins a new one with an item of a list.
func (p *plainText) text(line string) {
	if markdownStart.FindStringSubmatch(line)[2] != "" {
		p.endParagraph()
		p.paragraph = line
		return
	}
	if p.paragraph != "" {
		line = p.paragraph + " " + strings.TrimSpace(line)
	}
	p.paragraph = line
}

func (p *plainText) endParagraph() {
	if p.paragraph == "" {
		return
	}
	start := markdownStart.FindStringSubmatch(p.paragraph)[2]
	for _, line := range wrapIndent(plainWords(p.paragraph), pageWidth, strings.Repeat(" ", len(start))) {
		p.out.WriteString(line + "\n")
	}
	p.paragraph = ""
}

// row writes the first cell of a row on its own line, and the others below it with the words of the head.
func (p *plainText) row(line string) {
	p.endParagraph()
	cells := strings.Split(strings.Trim(line, "| "), " | ")
	if p.head == nil {
		p.head = cells
		return
	}
	if strings.HasPrefix(cells[0], "---") {
		return
	}
	p.out.WriteString("  " + plainWords(cells[0]) + "\n")
	for i, cell := range cells[1:] {
		if i+1 < len(p.head) && cell != "" {
			for _, line := range wrapIndent("      "+plainWords(p.head[i+1]+": "+cell), pageWidth, "  ") {
				p.out.WriteString(line + "\n")
			}
		}
	}
}

// plainWords removes the marks of links and of bold words.
func plainWords(text string) string {
	return strings.ReplaceAll(markdownLink.ReplaceAllString(text, "$1"), "**", "")
}
