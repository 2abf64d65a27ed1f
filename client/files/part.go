package files

import (
	"context"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/asked"
	"github.com/acpkit/go-sdk/internal/localfs"
)

// Reader is an [acp.TextFileReader] for one connection, made for embedding.
type Reader struct{ reader }

// ReadWriter is an [acp.TextFileReader] and an [acp.TextFileWriter] for one connection,
// made for embedding.
type ReadWriter struct{ reader }

type reader struct{ part *part }

var (
	_ acp.TextFileReader = (*Reader)(nil)
	_ acp.TextFileReader = (*ReadWriter)(nil)
	_ acp.TextFileWriter = (*ReadWriter)(nil)
)

// Reader returns the part of a client that lets an agent read. Conn is the connection
// to the agent; when it ends, the state of its sessions is freed. A nil check allows
// everything.
func (f *Folders) Reader(conn Sessions, check Check) *Reader {
	return &Reader{reader{f.newPart(conn, check)}}
}

// ReadWriter returns the part of a client that lets an agent read and write; see
// [Folders.Reader].
func (f *Folders) ReadWriter(conn Sessions, check Check) *ReadWriter {
	return &ReadWriter{reader{f.newPart(conn, check)}}
}

// ReadTextFile returns the text of a file, or some lines of it.
//
// Protocol: fs/read_text_file.
func (r *reader) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return r.part.readTextFile(ctx, req)
}

// WriteTextFile creates or replaces a file. Folders on the way are created.
//
// Protocol: fs/write_text_file.
func (r *ReadWriter) WriteTextFile(ctx context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return r.part.writeTextFile(ctx, req)
}

// part serves one connection.
type part struct {
	folders *Folders
	check   Check

	mu       sync.Mutex // guards the fields below
	over     bool
	sessions map[acp.SessionID]*session
}

// session holds the folders of a session.
type session struct {
	dirs  []string        // as the client gave them
	roots []*localfs.Root // the allowed ones, opened
}

func (s *session) close() {
	for _, r := range s.roots {
		r.Close()
	}
}

func (f *Folders) newPart(conn Sessions, check Check) *part {
	p := &part{folders: f, check: check, sessions: map[acp.SessionID]*session{}}
	f.mu.Lock()
	p.over = f.closed
	if !f.closed {
		f.parts[p] = struct{}{}
	}
	f.mu.Unlock()
	if conn != nil {
		conn.OnSessionEnd(p.endSession)
		conn.OnEnd(func() {
			f.mu.Lock()
			delete(f.parts, p)
			f.mu.Unlock()
			p.end()
		})
	}
	return p
}

func (p *part) endSession(id acp.SessionID) {
	p.mu.Lock()
	s := p.sessions[id]
	delete(p.sessions, id)
	p.mu.Unlock()
	if s != nil {
		s.close()
	}
}

func (p *part) end() {
	p.mu.Lock()
	all := p.sessions
	p.over, p.sessions = true, nil
	p.mu.Unlock()
	for _, s := range all {
		s.close()
	}
}

// roots opens the folders of a session on first use.
func (p *part) roots(ctx context.Context, id acp.SessionID) ([]*localfs.Root, error) {
	dirs := asked.Of(ctx).Roots(string(id))
	if dirs == nil {
		return nil, ErrUnknownSession
	}
	p.mu.Lock()
	s, over := p.sessions[id], p.over
	p.mu.Unlock()
	switch {
	case over:
		return nil, ErrUnknownSession
	case s != nil && slices.Equal(s.dirs, dirs):
		return s.roots, nil
	}
	fresh := openSession(p.folders.allowed(), dirs)
	p.mu.Lock()
	old := p.sessions[id]
	switch {
	case p.over:
		fresh, old = nil, fresh
	case old != nil && slices.Equal(old.dirs, dirs): // another request has opened them, and they may be in use
		fresh, old = old, fresh
	default:
		p.sessions[id] = fresh
	}
	p.mu.Unlock()
	if old != nil {
		old.close()
	}
	if fresh == nil {
		return nil, ErrUnknownSession
	}
	return fresh.roots, nil
}

func openSession(allowed []*localfs.Root, dirs []string) *session {
	s := &session{dirs: dirs}
	for _, dir := range dirs {
		if r := localfs.OpenBelow(allowed, dir); r != nil {
			s.roots = append(s.roots, r)
		}
	}
	return s
}
