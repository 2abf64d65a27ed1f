//go:build unix

package workspace_test

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
)

// in16 returns a text in UTF-16.
func in16(order binary.AppendByteOrder, text string) string {
	var raw []byte
	for _, u := range utf16.Encode([]rune(text)) {
		raw = order.AppendUint16(raw, u)
	}
	return string(raw)
}

// A file keeps its line ends, its byte order mark and its encoding when the tools of a model change it.
func TestFormOfAFile(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	edit := func(old, new string) object {
		return object{"edits": []object{{"old": old, "new": new}}}
	}
	write := func(text string) object { return object{"text": text} }
	for name, c := range map[string]struct {
		input        object
		before, want string
		old, new     string // as the person sees them; empty means before and want
	}{
		"write crlf":     {input: write("x\ny\n"), before: "a\r\nb\r\n", want: "x\r\ny\r\n"},
		"write mixed":    {input: write("x\ny\n"), before: "a\r\nb\n", want: "x\ny\n"},
		"write as given": {input: write("x\r\ny\n"), before: "a\r\nb\r\n", want: "x\r\ny\n"},
		"write bom":      {input: write("x\n"), before: "\ufeffa\n", want: "\ufeffx\n"},
		"edit crlf":      {input: edit("a\nb", "x\ny\nz"), before: "a\r\nb\r\n", want: "x\r\ny\r\nz\r\n"},
		"edit utf-16":    {edit("ä\nb", "€\n😀"), in16(le, "\ufeffä\r\nb\r\n"), in16(le, "\ufeff€\r\n😀\r\n"), "\ufeffä\r\nb\r\n", "\ufeff€\r\n😀\r\n"},
		"write utf-16":   {write("ö\n"), in16(be, "\ufeffa\n"), in16(be, "\ufeffö\n"), "\ufeffa\n", "\ufeffö\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, "", nil)
			f.put("a.txt", c.before)
			if c.old == "" {
				c.old, c.new = c.before, c.want
			}
			tool := "write_file"
			if c.input["edits"] != nil {
				tool = "edit_file"
			}
			c.input["path"] = "a.txt"
			p := &person{}
			d := f.call(tools.Env{Session: p}, tool, c.input)
			require.Equal(t, tools.Completed, d.Outcome, read(d))
			assert.Equal(t, c.want, f.disk("a.txt"))
			diff := p.asked[0].Content[0].(*acp.Diff)
			assert.Equal(t, []string{c.old, c.new}, []string{*diff.OldText, diff.NewText})
		})
	}
}

// Lines of a text in UTF-16 are read as others. Of what is neither that nor UTF-8 the model reads what to
// do.
func TestOtherEncodings(t *testing.T) {
	f := open(t, "", nil)
	f.put("a.txt", in16(binary.LittleEndian, "\ufeffa\nb\nc\n"))
	lines, err := f.ReadLines(t.Context(), "a.txt", 2, 1)
	require.NoError(t, err)
	assert.Equal(t, "b\n", lines)
	for name, text := range map[string]string{
		"latin 1": "f\xfcr", "without a mark": in16(binary.LittleEndian, "für"), "half a unit": in16(binary.LittleEndian, "\ufeffa") + "x",
		"half a surrogate": "\xff\xfe\x00\xd8", "UTF-32": "\xff\xfe\x00\x00a\x00\x00\x00",
	} {
		f.put("b.txt", text)
		d := f.call(tools.Env{Session: &person{}}, "read_file", object{"path": "b.txt"})
		assert.Equal(t, tools.Failed, d.Outcome, name)
		assert.Contains(t, read(d), "convert", name)
		_, err := f.Read(t.Context(), "b.txt")
		assert.ErrorIs(t, err, workspace.ErrNotText, name)
	}
}
