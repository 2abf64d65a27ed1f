package kit

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The limits of a prompt. Models do not read more.
const (
	maxBlocks = 128
	maxText   = 1 << 20 // bytes of all texts together, including the files that links refer to
	maxData   = 8 << 20 // bytes of one image, audio or other data
)

// A Prompt is the prompt of a turn.
type Prompt struct {
	Blocks []acp.ContentBlock // as the client sent them

	// Parts is what the model reads, in the order of Blocks. A link to a file within the roots of
	// the session is replaced by the text of the file; any other link is only named. The text of a
	// file is enclosed in a tag with a random name, so that no file can contain the end of its tag.
	Parts []tools.Part

	// Command is the name of the slash command with which the prompt begins, without the slash.
	// Args is the rest of the same block, without space at either end. Command is empty if the
	// first text does not begin, after any space, with a slash and a name of letters, digits, - or
	// _. Parts contains this text too.
	Command, Args string

	// Earlier are the prompts since the last call of Turn that were cancelled before their turn began. They
	// are part of the conversation: the person sees them.
	Earlier []*Prompt

	// MessageID is the id of the prompt as a message of the user.
	MessageID acp.MessageID
}

// promptCapabilities returns the kinds of blocks that are advertised. readPrompt accepts images in any
// case, because another model of the session may take them.
func promptCapabilities(image, audio bool) *acp.PromptCapabilities {
	return &acp.PromptCapabilities{Image: image, Audio: audio, EmbeddedContext: true}
}

// A linkReader reads the files that a prompt links to. *workspace.Workspace implements it and
// returns an error for a path outside the roots of the session.
type linkReader interface {
	ReadLines(ctx context.Context, path string, first, limit uint32) (string, error)
}

// readPrompt makes a Prompt without a MessageID from the blocks of a client. It returns an error if
// the prompt is empty or exceeds a limit, and if ctx is done. With nil links, no files are read.
func readPrompt(ctx context.Context, blocks []acp.ContentBlock, links linkReader) (*Prompt, error) {
	if len(blocks) == 0 || len(blocks) > maxBlocks {
		return nil, refused("a prompt may have 1 to %d blocks, and this one has %d", maxBlocks, len(blocks))
	}
	r := &promptReader{links: links, tag: "file-" + rand.Text(), room: maxText, shown: map[linked]bool{}}
	parts := make([][]tools.Part, len(blocks))
	var err error
	for i, b := range blocks { // embedded content takes its room before any linked file is read
		if parts[i], err = r.sent(i, b); err != nil {
			return nil, err
		}
	}
	if r.room < 0 {
		return nil, refused("the texts of a prompt may have %d MiB together", maxText>>20)
	}
	for i, b := range blocks {
		if link, ok := b.(*acp.ResourceLink); ok {
			if parts[i], err = r.link(ctx, link); err != nil {
				return nil, err
			}
		}
	}
	p := &Prompt{Blocks: blocks, Parts: slices.Concat(parts...)}
	p.Command, p.Args = slashCommand(blocks)
	return p, nil
}

func refused(format string, args ...any) error {
	return rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf(format, args...))
}

type promptReader struct {
	links linkReader
	tag   string
	room  int             // bytes of text that may still be added
	shown map[linked]bool // targets that need not be read, because their text is in the prompt
}

// sent returns the parts of block i. A link only takes its room: method link returns its parts.
func (r *promptReader) sent(i int, b acp.ContentBlock) ([]tools.Part, error) {
	switch b := b.(type) {
	case *acp.TextContent:
		if b.Text == "" { // models refuse empty texts
			return nil, nil
		}
		return r.text("%s", b.Text), nil
	case *acp.ResourceLink:
		r.room -= len(b.URI) + len(b.Name)
		return nil, nil
	case *acp.ImageContent:
		return r.data(i, b.URI, b.MIMEType, b.Data)
	case *acp.AudioContent:
		return r.data(i, "", b.MIMEType, b.Data)
	case *acp.EmbeddedResource:
		switch e := b.Resource.(type) {
		case *acp.TextResourceContents: // the text in the editor is newer than the file
			return r.file(linkedBy(e.URI), e.URI, e.Text), nil
		case *acp.BlobResourceContents:
			r.shown[linkedBy(e.URI)] = true
			return r.data(i, e.URI, cmp.Or(e.MIMEType, "application/octet-stream"), e.Blob)
		}
	case *acp.UnknownContentBlock:
		return r.text("[a block of type %q, which this agent cannot read, is left out]", b.Type), nil
	}
	return r.text("[a block that this agent cannot read is left out]"), nil
}

// link returns the text of a linked file. It returns only the name of a target that cannot be read
// or whose text is in the prompt already.
func (r *promptReader) link(ctx context.Context, b *acp.ResourceLink) ([]tools.Part, error) {
	note := ""
	if to := linkedBy(b.URI); to.file && !r.shown[to] && r.links != nil {
		text, err := r.links.ReadLines(ctx, to.path, to.first, to.limit)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, workspace.ErrNotText), strings.IndexByte(text, 0) >= 0:
			note = ", which is no text"
		case errors.Is(err, workspace.ErrTooLarge), len(text) > r.room:
			note = ", whose text is too long to be part of the prompt"
		case err != nil: // not an error of the prompt, because a person may link to anything
		default:
			return r.file(to, b.URI, strings.ToValidUTF8(text, "\uFFFD")), nil
		}
	}
	return r.text("[link to %q, %q%s]", b.URI, b.Name, note), nil
}

func (r *promptReader) file(of linked, uri, text string) []tools.Part {
	r.shown[of] = true
	return r.text("<%s uri=%q>\n%s\n</%[1]s>", r.tag, uri, text)
}

func (r *promptReader) text(format string, args ...any) []tools.Part {
	text := fmt.Sprintf(format, args...)
	r.room -= len(text)
	return []tools.Part{{Text: text}}
}

// data returns the parts of block i, whose data is base64 with or without padding.
func (r *promptReader) data(i int, uri, mimeType, encoded string) (parts []tools.Part, err error) {
	encoded = strings.TrimRight(encoded, "=")
	if base64.RawStdEncoding.DecodedLen(len(encoded)) > maxData {
		return nil, refused("an image or other data in a prompt may have %d MiB, and block %d has more", maxData>>20, i)
	}
	data, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, refused("the data of block %d is not base64", i)
	}
	if uri != "" {
		parts = r.text("[%s from %q]", mimeType, uri)
	}
	return append(parts, tools.Part{MIMEType: mimeType, Data: data}), nil
}

// slashCommand returns the command at the beginning of the first text. Blocks of other types, such
// as mentions, may precede this text, and editors put space after them.
func slashCommand(blocks []acp.ContentBlock) (name, args string) {
	for _, b := range blocks {
		t, ok := b.(*acp.TextContent)
		if !ok {
			continue
		}
		text := strings.TrimSpace(t.Text)
		if text == "" {
			continue
		}
		if line, ok := strings.CutPrefix(text, "/"); ok {
			end := strings.IndexAny(line+" ", " \t\n\f\r")
			if commandName(line[:end]) {
				return line[:end], strings.TrimLeft(line[end:], " \t\n\f\r")
			}
		}
		break
	}
	return "", ""
}

// linked is the target of a URI: lines of a file, or the URI itself if it is not that of a file.
type linked struct {
	path         string
	first, limit uint32 // the first line and the number of lines; both are 0 for all lines
	file         bool
}

// lines matches the line numbers that editors put into fragments: #L10, #L10-20, #L10-L20 and
// #L10:20.
var lines = regexp.MustCompile(`^L(\d{1,9})(?:[-:]L?(\d{1,9}))?$`)

// linkedBy returns the target of a URI. The path of a file is absolute and has no "..", not even an
// encoded one. A path with a drive gets backslashes on every system, because the client may run on
// another system than the agent. A URI of a file on another host is not treated as a file.
func linkedBy(uri string) linked {
	other := linked{path: uri}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.User != nil || u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		return other
	}
	p := u.Path // decoded
	switch {
	case p == "" || !utf8.ValidString(p) || strings.IndexByte(p, 0) >= 0:
		return other
	case len(p) > 1 && (p[1] == '/' || p[1] == '\\'): // a share on another host
		return other
	case len(p) > 2 && p[2] == ':' && wire.IsAbsPath(p[1:]+"/"): // a drive, as in /C:/
		p = p[1:3] + strings.ReplaceAll(path.Clean("/"+strings.ReplaceAll(p[3:], `\`, "/")), "/", `\`)
	default:
		p = path.Clean(p)
	}
	l := linked{path: p, file: true}
	if m := lines.FindStringSubmatch(u.Fragment); m != nil {
		first, _ := strconv.Atoi(m[1]) // at most nine digits
		last := first
		if m[2] != "" {
			last, _ = strconv.Atoi(m[2])
		}
		if first > 0 && first <= last {
			l.first, l.limit = uint32(first), uint32(last-first+1)
		}
	}
	return l
}
