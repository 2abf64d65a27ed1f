package journal

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"strconv"
	"time"

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
func appendLine(b []byte, r *Record) []byte {
	start := len(b)
	b = append(b, sumBegins+`00000000",`+seqBegins...)
	b = strconv.AppendInt(b, r.Seq, 10)
	b = append(b, `,"time":"`...)
	b = r.Time.AppendFormat(b, time.RFC3339Nano)
	b = wire.AppendString(append(b, `","kind":`...), r.Kind)
	b = append(b, `,"data":`...)
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
	return b
}

func sum(text []byte) []byte {
	c := crc32.Checksum(text, castagnoli)
	return hex.AppendEncode(nil, []byte{byte(c >> 24), byte(c >> 16), byte(c >> 8), byte(c)})
}

// stated returns the checksum that a line begins with. ok is false if it begins with something else.
func stated(line []byte) (sum uint32, ok bool) {
	if len(line) <= sumLength || string(line[:len(sumBegins)]) != sumBegins || string(line[sumLength-2:sumLength]) != `",` {
		return 0, false
	}
	n, err := strconv.ParseUint(string(line[len(sumBegins):sumLength-2]), 16, 32)
	return uint32(n), err == nil
}

// intact reports whether a line, without its line feed, has the checksum that it begins with.
func intact(line []byte) bool {
	want, ok := stated(line)
	return ok && want == crc32.Checksum(line[sumLength:], castagnoli)
}

// cutSeq returns the number of an intact line, and what follows it. ok is false for a line of a later
// version.
func cutSeq(line []byte) (seq int64, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(line[sumLength:], []byte(seqBegins))
	i := 0
	for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
		i++
	}
	seq, err := strconv.ParseInt(string(rest[:i]), 10, 64)
	return seq, rest[i:], ok && err == nil
}

// decodeLine decodes an intact line. The data is part of the line. It is not checked again, because it
// was checked when it was written.
func decodeLine(line []byte) (r Record, err error) {
	seq, rest, ok := cutSeq(line)
	rest, timed := bytes.CutPrefix(rest, []byte(`,"time":"`))
	when, rest, kinded := bytes.Cut(rest, []byte(`","kind":"`))
	kind, data, whole := bytes.Cut(rest, []byte(`","data":`))
	data, ended := bytes.CutSuffix(data, []byte("}"))
	if ok && timed && kinded && whole && ended && bytes.IndexByte(kind, '\\') < 0 {
		r = Record{Seq: seq, Kind: Kind(kind), Data: data}
		return r, r.Time.UnmarshalText(when)
	}
	return r, json.Unmarshal(line, &r) // a kind with escapes
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
		text := bytes.TrimSuffix(line, []byte("\n"))
		whole, tries := intact(text), maxTries
		for len(line) > 0 {
			n := len(line)
			if !whole {
				text, n = split(line, &tries)
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
				end = at + int64(len(text))
				if n > len(text) && line[len(text)] == '\n' {
					end++
				}
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

// maxTries is the number of places within a damaged line at which a record is looked for in vain. It
// keeps the cost linear, also if the data of a record looks like the beginnings of many records.
const maxTries = 8

// split handles a line in which the line feed between two records may be damaged. If the line begins
// with an intact record, split returns the record. Otherwise record is nil. skip is the number of bytes
// to continue after.
func split(line []byte, tries *int) (record []byte, skip int) {
	text := bytes.TrimSuffix(line, []byte("\n"))
	next := following(text, 0)
	if want, ok := stated(text); ok {
		sum, summed := uint32(0), sumLength // one running sum for all places at which the record may end
		for i := next; summed < len(text)-1; i = following(text, i) {
			if i == 0 { // the line feed of the last record may be damaged
				i = len(text)
			} else if i <= sumLength {
				continue
			}
			if sum, summed = crc32.Update(sum, castagnoli, text[summed:i-1]), i-1; sum == want {
				return text[:i-1], i
			}
		}
		if crc32.Update(sum, castagnoli, text[summed:]) == want {
			return text, len(line)
		}
	}
	if *tries--; next == 0 || *tries < 0 {
		return nil, len(line)
	}
	return nil, next
}

// following returns where the next record may begin in a text, after index i, or 0.
func following(text []byte, i int) int {
	if i == len(text) {
		return 0
	}
	n := bytes.Index(text[i+1:], []byte(sumBegins))
	if n < 0 {
		return 0
	}
	return i + 1 + n
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
