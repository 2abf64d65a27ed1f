package stream

import (
	"bytes"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// besides finds the messages of a line that is not one message. A message is taken if nothing stands
// before or behind it but other messages, white space, sequences for a terminal, and text that ends in
// a carriage return, which the next text overwrites. Other text may quote a message, as the log of an
// agent does, so the message is skipped with it. skipped is called with what is not a message.
func besides(line []byte, skipped func(text []byte)) (messages [][]byte) {
	taken := 0    // messages before the last carriage return
	tried := 0    // bytes that were read and belong to no message
	begin := line // what follows that carriage return
	for rest := line; ; {
		rest = silent(rest)
		if len(rest) == 0 {
			return messages
		}
		if rest[0] == '\r' {
			rest = rest[1:]
			taken, begin = len(messages), rest
			continue
		}
		// Nested objects that are not messages could each be read to their end.
		if tried <= len(line) {
			n, ok := wholeMessage(rest)
			if ok {
				messages = append(messages, bytes.Clone(rest[:n]))
				rest = rest[n:]
				continue
			}
			tried += n
		}
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			if len(messages) == taken {
				begin = rest
			}
			skipped(begin)
			return messages[:taken]
		}
		skipped(rest[:i])
		rest = rest[i:]
	}
}

// wholeMessage reports whether b begins with a message, and returns how many bytes it has read.
func wholeMessage(b []byte) (n int, ok bool) {
	if b[0] != '{' {
		return 0, false
	}
	n, err := envelope.Skip(b, 0, envelope.MaxDepth)
	if err != nil {
		return n, false
	}
	k := envelope.Parse(b[:n]).Kind
	return n, k != envelope.KindNotJSON && k != envelope.KindBadRequest
}

// looksLikeMessage reports whether a line that is not one message may hold or quote one.
func looksLikeMessage(line []byte) bool { return bytes.Contains(line, []byte(`"jsonrpc"`)) }

// silent returns what follows white space, byte order marks, and what a terminal does not print. It
// stops at a carriage return.
func silent(b []byte) []byte {
	for len(b) > 0 {
		n := 0
		switch c := b[0]; {
		case c == '\r':
			return b
		case c == '\x1b':
			n = sequence(b)
		case c <= ' ', c == 0x7f, c == 0xff, c == 0xfe: // the last two are the mark of UTF-16
			n = 1
		case c >= utf8.RuneSelf:
			if _, size := utf8.DecodeRune(b); len(envelope.Trim(b[:size])) == 0 {
				n = size
			}
		}
		if n == 0 {
			return b
		}
		b = b[n:]
	}
	return b
}

// sequence returns the length of the escape sequence that b begins with, or 0 if it does not end.
func sequence(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b) && b[i] >= ' '; i++ {
			if b[i] >= '@' {
				return i + 1
			}
		}
	case ']', 'P', 'X', '^', '_': // a string, such as the title of the window
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] == '\a':
				return i + 1
			case b[i] == '\x1b' && i+1 < len(b) && b[i+1] == '\\':
				return i + 2
			case b[i] < ' ':
				return 0
			}
		}
	default:
		for i := 1; i < len(b) && b[i] >= ' ' && b[i] < 0x7f; i++ {
			if b[i] >= '0' {
				return i + 1
			}
		}
	}
	return 0
}
