package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/relay"
	"github.com/acpkit/go-sdk/internal/localfs"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// maxText is the maximum size of a text in bytes. No model reads more.
const maxText = 4 << 20

// File is a file with its whole text.
type File struct {
	Path    string // absolute
	Text    string
	Version Version
}

// Version identifies a text of a file.
type Version string

// The versions that do not identify a text.
const (
	AnyText Version = ""    // the file may have any text, or not exist
	NoFile  Version = "new" // the file must not exist
)

// VersionOf returns the version of a text.
func VersionOf(text string) Version { return Version(fmt.Sprintf("%x", sha256.Sum256([]byte(text)))) }

// Read reads a file.
func (w *Workspace) Read(ctx context.Context, path string) (*File, error) {
	path, err := w.resolve(path)
	if err != nil {
		return nil, err
	}
	return w.file(ctx, path)
}

func (w *Workspace) file(ctx context.Context, path string) (*File, error) {
	text, err := w.read(ctx, path, nil, nil)
	if err != nil {
		return nil, err
	}
	return &File{path, text, VersionOf(text)}, nil
}

// ReadLines reads at most limit lines of a file, beginning with line number first. Line numbers
// start at 1. A limit of 0 means all lines. The file may be larger than the limit of Read.
func (w *Workspace) ReadLines(ctx context.Context, path string, first, limit uint32) (string, error) {
	path, err := w.resolve(path)
	if err != nil {
		return "", err
	}
	return w.readLines(ctx, path, first, limit)
}

func (w *Workspace) readLines(ctx context.Context, path string, first, limit uint32) (string, error) {
	var line, most *uint32
	if first > 1 {
		line = &first
	}
	if limit > 0 {
		most = &limit
	}
	return w.read(ctx, path, line, most)
}

// read reads a file through the client if it offers that, and otherwise from the disk.
func (w *Workspace) read(ctx context.Context, path string, line, limit *uint32) (string, error) {
	if !w.offers().read {
		return w.readDisk(ctx, path, line, limit)
	}
	if _, err := w.held(path); err != nil {
		return "", err
	}
	var raw json.RawMessage
	res, err := w.conn.ReadTextFile(relay.WithRawResult(ctx, &raw), &acp.ReadTextFileRequest{SessionID: w.id, Path: path, Line: line, Limit: limit})
	switch {
	case missing(err), unclear(err) && w.absent(path): // some clients answer so for a file that does not exist
		return "", failed(path, fmt.Errorf("%w: %w", fs.ErrNotExist, err))
	case err != nil:
		return "", failed(path, said(err, raw))
	case len(res.Content) > maxText:
		return "", &Error{path, ErrTooLarge}
	}
	return res.Content, nil
}

func (w *Workspace) readDisk(ctx context.Context, path string, line, limit *uint32) (string, error) {
	at, err := w.locate(path)
	if err != nil {
		return "", failed(path, err)
	}
	defer at.Close()
	text, _, err := at.Read(ctx, line, limit, maxText)
	switch err {
	case localfs.ErrGrown:
		err = ErrTooLarge
	case ErrNotText:
		if whole, order := inUTF16(at); order != nil {
			text = localfs.Lines(whole, line, limit)
			err = localfs.CheckText(text)
		}
	}
	return text, failed(path, err)
}

// writing serializes the writes of each file, across all workspaces of this program.
var writing localfs.Turns

// Write creates or replaces a file if the file has the version old; otherwise the error is
// [ErrStale]. It creates missing folders. The result has the text of the file after the write,
// which differs from text if an editor formats the file when it saves.
func (w *Workspace) Write(ctx context.Context, path, text string, old Version) (*File, error) {
	path, err := w.resolve(path)
	if err != nil {
		return nil, err
	}
	return w.write(ctx, path, text, old)
}

func (w *Workspace) write(ctx context.Context, path, text string, old Version) (*File, error) {
	err := localfs.CheckText(text)
	if len(text) > maxText {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, &Error{path, err}
	}
	file, err := w.held(path)
	if err != nil {
		return nil, err
	}
	done, err := writing.Wait(ctx, file)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := w.expect(ctx, path, old); err != nil {
		return nil, err
	}
	o := w.offers()
	if !o.write {
		err = w.writeDisk(path, text)
	} else if _, err = w.held(path); err == nil {
		var raw json.RawMessage
		_, err = w.conn.WriteTextFile(relay.WithRawResult(ctx, &raw), &acp.WriteTextFileRequest{SessionID: w.id, Path: path, Content: text})
		if err = said(err, raw); unclear(err) {
			if now, readErr := w.readDisk(ctx, path, nil, nil); readErr == nil && now == text {
				err = nil // it is written, whatever the client says
			}
		}
	}
	if err != nil {
		return nil, failed(path, err)
	}
	if o.read && o.write {
		if now, err := w.read(ctx, path, nil, nil); err == nil { // the file is written, even if it cannot be read
			text = now
		}
	}
	return &File{path, text, VersionOf(text)}, nil
}

// expect returns an error if the file does not have the version old. It also returns an error if
// the client does not offer writing, and the text on the disk differs from that of the client.
func (w *Workspace) expect(ctx context.Context, path string, old Version) error {
	o := w.offers()
	onDisk := o.read && !o.write
	if old == AnyText && !onDisk {
		return nil
	}
	now, err := w.read(ctx, path, nil, nil)
	none := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !none:
		return err
	case old != AnyText && (none != (old == NoFile) || !none && VersionOf(now) != old):
		return &Error{path, ErrStale}
	case !onDisk:
		return nil
	}
	disk, err := w.readDisk(ctx, path, nil, nil)
	noFile := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !noFile:
		return err
	case disk != now, none && !noFile: // some clients return an empty text for a file that does not exist
		return &Error{path, ErrUnsaved}
	}
	return nil
}

func (w *Workspace) writeDisk(path, text string) error {
	at, err := w.locate(path)
	if err != nil {
		return err
	}
	defer at.Close()
	if err := at.MakeFolders(); err != nil {
		return err
	}
	if _, order := inUTF16(at); order != nil { // the file keeps its encoding
		text = toUTF16(inFormOf(mark, text), order)
	}
	return at.Replace(text)
}

// A Replacement replaces a text that occurs exactly once in a file. Old and new text are literal.
type Replacement struct {
	Old string `json:"old" description:"text that occurs exactly once in the file, with its white space and line ends" validate:"required,min=1"`
	New string `json:"new" description:"what takes its place; empty to remove it" validate:"required"`
}

// EditError reports that a replacement cannot be made. In this case none of the replacements is
// made. Its text is for the model.
type EditError struct {
	Path    string
	Index   int // of the replacement
	Matches int // number of occurrences of its text; 1 means that it overlaps the text of another replacement
	crlf    bool
}

func (e *EditError) Error() string {
	why := "does not occur in it"
	switch {
	case e.Matches == 1:
		why = "overlaps that of another edit; join them"
	case e.Matches > 1:
		why = fmt.Sprintf("occurs %d times; give more of the text around it", e.Matches)
	case e.crlf:
		why += `: its lines end with \r\n`
	}
	return fmt.Sprintf("%s was not changed: the old text of edit %d %s", safetext.Label(e.Path), e.Index+1, why)
}

// RequestError returns the error that the client receives.
func (e *EditError) RequestError() *rpcerr.RequestError { return e.record().RequestError() }

// FailedToolCall implements acp.ToolFailure.
func (e *EditError) FailedToolCall() *acp.ToolCallUpdate { return e.record().FailedToolCall() }

func (e *EditError) record() *kind.Error {
	word := "no_match"
	if e.Matches > 0 {
		word = "ambiguous_match"
	}
	return kind.Validation.New(e.Error()).WithReason(word)
}

// Edit makes all replacements in a file, or none. The file must have the version old, and must not
// change while Edit runs; otherwise the error is [ErrStale].
func (w *Workspace) Edit(ctx context.Context, path string, edits []Replacement, old Version) (*File, error) {
	path, err := w.resolve(path)
	if err != nil {
		return nil, err
	}
	file, text, err := w.edited(ctx, path, edits)
	if err != nil {
		return nil, err
	}
	if old != AnyText && old != file.Version {
		return nil, &Error{file.Path, ErrStale}
	}
	return w.write(ctx, file.Path, text, file.Version)
}

// edited returns a file, and its text after the replacements.
func (w *Workspace) edited(ctx context.Context, path string, edits []Replacement) (*File, string, error) {
	file, err := w.file(ctx, path)
	if err != nil {
		return nil, "", err
	}
	text, err := replace(file, edits)
	return file, text, err
}

// replace makes all replacements at once: no replacement applies to the new text of another.
func replace(file *File, edits []Replacement) (string, error) {
	text := file.Text
	at := make(map[int]int, len(edits)) // the edits by where their texts begin
	edits = slices.Clone(edits)
	for i, e := range edits {
		if !strings.Contains(text, e.Old) {
			e.Old = withLineEnds(text, e.Old)
		}
		e.New = withLineEnds(text, e.New)
		edits[i] = e
		n := occurrences(text, e.Old)
		begin := strings.Index(text, e.Old)
		if _, twice := at[begin]; n != 1 || twice {
			return "", &EditError{Path: file.Path, Index: i, Matches: n, crlf: occurrences(strings.ReplaceAll(text, "\r\n", "\n"), e.Old) > 0}
		}
		at[begin] = i
	}
	var all strings.Builder
	end := 0
	for _, begin := range slices.Sorted(maps.Keys(at)) {
		e := edits[at[begin]]
		if begin < end {
			return "", &EditError{Path: file.Path, Index: at[begin], Matches: 1}
		}
		all.WriteString(text[end:begin] + e.New)
		end = begin + len(e.Old)
	}
	return all.String() + text[end:], nil
}

// occurrences counts the occurrences of part in text, including overlapping ones. An empty part has
// none.
func occurrences(text, part string) (n int) {
	for i := strings.Index(text, part); i >= 0 && part != ""; i = strings.Index(text, part) {
		n++
		text = text[i+1:]
	}
	return n
}
