package stream

import "github.com/acpkit/go-sdk/internal/envelope"

// Features are what a [Stream] can do beside Read, Write and Close. A stream that can do more
// has a method
//
//	Features() *Features
//
// which is called once, before the first Read. Every field may be left out. A stream with
// other fields set than its messages need behaves the same, only slower or less informed.
//
// Features have two parts. The first carries messages: a wrapper that sees, changes or counts
// messages must wrap each of its functions that it sets. The second informs: a wrapper begins
// with a copy of it, which [Features.Information] returns, so that nothing is lost that is
// added later.
type Features struct {
	// WriteBatch sends several messages in one write. Only one of Write and WriteBatch is
	// called at a time. It must not retain or modify msgs or the messages in it. The messages
	// arrive in order; when one of them is refused with a *[MessageError], none is sent.
	WriteBatch func(msgs [][]byte) error

	// ReadMessage returns a message with its envelope, which the stream has parsed. A
	// connection calls it in place of Read, and the rules of Read hold for it.
	ReadMessage func() (Message, error)

	// WriteMessage takes the envelope of a message too: a network transport routes by session
	// and matches responses to requests. A connection calls it in place of Write and
	// WriteBatch, for every message or for none. The rules of Write hold for it.
	//
	// WriteMessage returns when the message is accepted, which may be before it is sent. It
	// waits while the stream has no room. If a message is lost after it was accepted, reading
	// returns a *[LostError].
	WriteMessage func(Message) error

	// Written returns the number of bytes that have been sent, including those of a Write that has
	// not returned. With it a connection distinguishes a slow peer from one that does not read. It
	// is safe for concurrent use, and must not wait for a Write: it is called while one is blocked.
	Written func() int64

	// CloseFor closes the stream and gives the peer the reason. A connection that ends for a reason
	// other than [ReasonDone] calls it in place of Close. The rules of Close hold for it, and
	// only the first call of either has an effect.
	CloseFor func(Reason) error

	// Draining is closed when the stream asks its connection to let running turns end, to
	// accept no new ones, and then to close the stream. The stream of a server that shuts
	// down closes it; the connection then runs Shutdown.
	Draining <-chan struct{}

	// SingleInitialize reports that the endpoint may accept only one initialize for each
	// connection, as network endpoints do. A client must connect again to send another one.
	SingleInitialize bool

	unchecked // carries messages
}

// unchecked lets a connection check the lines of a tolerant stream.
type unchecked = envelope.Unchecked

// FeaturesOf returns what s can do beside Read, Write and Close. It is for the owner of s,
// who calls it once, before the first Read. The result is never nil.
func FeaturesOf(s Stream) *Features {
	if t, ok := s.(interface{ Features() *Features }); ok {
		if f := t.Features(); f != nil {
			return f
		}
	}
	return new(Features)
}

// Information returns a copy of the part that carries no messages.
func (f *Features) Information() *Features {
	return &Features{Written: f.Written, CloseFor: f.CloseFor, Draining: f.Draining, SingleInitialize: f.SingleInitialize}
}

// Messages returns functions that read and write messages of s, whose features f are: those
// of f, or others that call Read and Write.
func (f *Features) Messages(s Stream) (read func() (Message, error), write func(Message) error) {
	if read = f.ReadMessage; read == nil {
		read = func() (Message, error) {
			msg, err := s.Read()
			if err != nil {
				return Message{}, err
			}
			return ParseMessage(msg), nil
		}
	}
	if write = f.WriteMessage; write == nil {
		write = func(m Message) error { return s.Write(m.Data) }
	}
	return read, write
}

// Reason is the reason why a connection closes its stream.
type Reason uint8

const (
	// ReasonDone is the end of a connection that has done its work: its owner closes it,
	// or the peer has ended it.
	ReasonDone Reason = iota
	// ReasonLimit is the end of a connection whose peer has exceeded a limit, or reads
	// nothing.
	ReasonLimit
	// ReasonFailure is the end of a connection that cannot go on because this end has
	// failed.
	ReasonFailure
)
