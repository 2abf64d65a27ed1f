package envelope

import "bytes"

// separators are the line ends that may stand unescaped in a string of JSON. Programs that read lines
// split them there: readline of Node.js at the last two, splitlines of Python at all.
var separators = [...]struct{ raw, escaped string }{
	{"\u0085", `\u0085`},
	{"\u2028", `\u2028`},
	{"\u2029", `\u2029`},
}

// OneLine returns a JSON text of the same value that every program reads as one line: separators are
// escaped, which stand in strings, and line feeds and carriage returns become spaces, which stand
// between tokens. It returns msg itself if there are none.
func OneLine(msg []byte) []byte {
	const ends = "\n\r"
	for i := range len(ends) {
		if bytes.IndexByte(msg, ends[i]) >= 0 {
			msg = bytes.ReplaceAll(msg, []byte{ends[i]}, []byte{' '})
		}
	}
	for _, s := range separators {
		if raw := []byte(s.raw); bytes.Contains(msg, raw) {
			msg = bytes.ReplaceAll(msg, raw, []byte(s.escaped))
		}
	}
	return msg
}
