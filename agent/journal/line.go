package journal

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Each line of a log file is one record, a JSON object that begins with the checksum of the rest of
// the line:
//
//	{"sum":"1f0c9a77","seq":1,"time":"2026-01-02T03:04:05Z","kind":"event","data":{}}
//
// The first line has the number 0 and the kind "head". Its data is the Meta of the new session. A
// later version of this format puts "v":2, or a higher number, before "seq". This version skips and
// keeps such lines, and appends nothing to a log that has them.
const (
	sumBegins = `{"sum":"`
	sumLength = len(sumBegins) + 8 + len(`",`)
	seqBegins = `"seq":`

	kindHead Kind = "head"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendLine appends the line of a record. The data becomes one line of valid JSON.
func appendLine(b []byte, r *Record) ([]byte, error) {
	start := len(b)
	b = append(b, sumBegins+`00000000",`+seqBegins...)
	b = strconv.AppendInt(b, r.Seq, 10)
	b = append(b, `,"time":"`...)
	b = r.Time.AppendFormat(b, time.RFC3339Nano)
	b = wire.AppendString(append(b, `","kind":`...), r.Kind)
	b = append(b, `,"data":`...)
	if err := checkData(r); err != nil {
		return b[:start], err
	}
	at := len(b)
	b = append(append(b, r.Data...), '}', '\n')
	for data := b[at : len(b)-1]; ; { // in valid JSON, a line feed is always white space between tokens
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			break
		}
		data[i] = ' '
	}
	line := b[start:]
	copy(line[len(sumBegins):], sum(line[sumLength:len(line)-1]))
	return b, nil
}

// maxNesting is the nesting limit of encoding/json, which decodes the records.
const maxNesting = 10_000

// checkData returns an error unless the data of a record is one JSON value.
func checkData(r *Record) error {
	end, err := envelope.Skip(r.Data, 0, maxNesting)
	if err == nil && envelope.SkipSpace(r.Data, end) == len(r.Data) {
		return nil
	}
	return fmt.Errorf("journal: the data of a record of kind %q is not JSON", r.Kind)
}

func sum(text []byte) []byte {
	c := crc32.Checksum(text, castagnoli)
	return hex.AppendEncode(nil, []byte{byte(c >> 24), byte(c >> 16), byte(c >> 8), byte(c)})
}

// intact reports whether a line, without its line feed, has the checksum that it begins with.
func intact(line []byte) bool {
	return len(line) > sumLength && string(line[:len(sumBegins)]) == sumBegins && string(line[sumLength-2:sumLength]) == `",` &&
		bytes.Equal(line[len(sumBegins):sumLength-2], sum(line[sumLength:]))
}

// seqOf returns the number of an intact line. ok is false for a line of a later version.
func seqOf(line []byte) (seq int64, ok bool) {
	rest, ok := bytes.CutPrefix(line[sumLength:], []byte(seqBegins))
	i := 0
	for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
		i++
	}
	seq, err := strconv.ParseInt(string(rest[:i]), 10, 64)
	return seq, ok && err == nil
}

// scan reads lines until the end of r. It calls found for each intact line with the offset of the
// line, until found returns false, and calls bad for each range of bytes outside of intact lines.
// Bytes after the last line feed are a line too if they are intact. end is the offset of the end of
// the last intact line.
func scan(r io.Reader, found func(line []byte, at int64) bool, bad func(from, to int64)) (end int64, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var at int64
	lost := int64(-1) // start of the current range outside of intact lines; -1 if there is none
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return end, err
		}
		for len(line) > 0 {
			text := bytes.TrimSuffix(line, []byte("\n"))
			n := len(line)
			if !intact(text) {
				text, n = split(text, n)
			}
			if text == nil {
				if lost < 0 {
					lost = at
				}
			} else {
				if lost >= 0 {
					bad(lost, at)
					lost = -1
				}
				end = at + int64(n)
				if !found(text, at) {
					return end, nil
				}
			}
			at += int64(n)
			line = line[n:]
		}
		if err != nil {
			if lost >= 0 {
				bad(lost, at)
			}
			return end, nil
		}
	}
}

// split handles a text of n bytes in which the line feed between two records may be damaged. If the
// text begins with an intact line, split returns the line. Otherwise line is nil. skip is the
// number of bytes to continue after.
func split(text []byte, n int) (line []byte, skip int) {
	for i := range text {
		switch {
		case i == 0 || !bytes.HasPrefix(text[i:], []byte(sumBegins)):
		case intact(text[:i-1]):
			return text[:i-1], i
		case intact(text[i:]):
			return nil, i
		}
	}
	return nil, n
}

// readLine returns the next line with its line feed. The line is valid until the next call. At the
// end of the file, readLine returns the rest with io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := bytes.Clone(line)
	rest, err := in.ReadBytes('\n')
	return append(long, rest...), err
}
