package main

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// The picture is a terminal of so many columns. Longer lines are wrapped.
const (
	columns    = 96
	charWidth  = 8.4
	lineHeight = 19
	margin     = 16
	header     = 36
)

// The escape sequences that chat sends, and the one that marks what the user types.
const (
	typed = "\x1b[1m"
	reset = "\x1b[0m"
)

// colors maps the parameter of an escape sequence to a style of the picture.
var colors = map[string]string{
	"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c",
}

const style = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre}` +
	`.b{fill:#fff;font-weight:bold}.d{fill:#7b8494}.r{fill:#f07178}.g{fill:#8fce7e}.y{fill:#e6c264}.c{fill:#6cc4d8}`

// span is a piece of a line in one style.
type span struct{ class, text string }

func draw(screen string) []byte {
	lines := parse(strings.TrimRight(screen, "\n"))
	width, height := columns*charWidth+2*margin, header+len(lines)*lineHeight+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" aria-label="A conversation with an agent on the terminal">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<style>%s</style>\n", style)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%d" rx="8" fill="#1e222a"/>`+"\n", width, height)
	for i, color := range []string{"#f07178", "#e6c264", "#8fce7e"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="18" r="6" fill="%s"/>`+"\n", 20+20*i, color)
	}
	for i, line := range lines {
		if len(line) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve">`, margin, header+(i+1)*lineHeight-5)
		for _, s := range line {
			if s.class == "" {
				b.WriteString(escape(s.text))
			} else {
				fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, s.class, escape(s.text))
			}
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return strings.ReplaceAll(b.String(), "&#34;", `"`)
}

func parse(screen string) (lines [][]span) {
	class := ""
	for line := range strings.SplitSeq(screen, "\n") {
		var spans []span
		room := columns
		for line != "" {
			text, rest, found := strings.Cut(line, "\x1b[")
			for text = strings.ReplaceAll(text, "\t", "    "); text != ""; {
				piece := []rune(text)
				n := min(len(piece), room)
				spans = append(spans, span{class, string(piece[:n])})
				text, room = string(piece[n:]), room-n
				if room == 0 && (text != "" || found) {
					lines, spans, room = append(lines, spans), nil, columns
				}
			}
			line = ""
			if found {
				parameter, after, _ := strings.Cut(rest, "m")
				class, line = colors[parameter], after
			}
		}
		lines = append(lines, spans)
	}
	return lines
}
