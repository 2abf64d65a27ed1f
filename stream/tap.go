package stream

// Direction is the direction of a message, as seen by the program that holds the
// stream.
type Direction uint8

const (
	// Received is a message that Read or ReadMessage returns.
	Received Direction = iota
	// Sent is a message that is given to Write, WriteBatch or WriteMessage.
	Sent
)

// String returns "received" or "sent".
func (d Direction) String() string {
	if d == Sent {
		return "sent"
	}
	return "received"
}

// Tap returns a stream that carries the messages of s and calls see with each of them: for
// logs, recordings and tests. It does not change messages, and it has the [Features] of s, so
// that a connection over it behaves like one over s; but it checks that messages are JSON, so
// that see is called with messages only.
//
// see is called before a message is written, and after one was read. It must not retain or
// modify msg. The reader and the writer of the stream call it, possibly at the same time,
// and wait for it. Where s refuses a batch with *[MessageError], its messages are shown
// again when they are written one by one.
func Tap(s Stream, see func(dir Direction, msg []byte)) Stream {
	below := FeaturesOf(s)
	t := &tap{Stream: s, see: see, features: below.Information()}
	if below.WriteBatch != nil {
		t.features.WriteBatch = func(msgs [][]byte) error {
			for _, msg := range msgs {
				see(Sent, msg)
			}
			return below.WriteBatch(msgs)
		}
	}
	if below.ReadMessage != nil {
		t.features.ReadMessage = func() (Message, error) {
			m, err := below.ReadMessage()
			if err == nil {
				see(Received, m.Data)
			}
			return m, err
		}
	}
	if below.WriteMessage != nil {
		t.features.WriteMessage = func(m Message) error {
			see(Sent, m.Data)
			return below.WriteMessage(m)
		}
	}
	return t
}

// tap is a stream that shows the messages it carries.
type tap struct {
	Stream

	see      func(Direction, []byte)
	features *Features
}

func (t *tap) Features() *Features { return t.features }

func (t *tap) Read() ([]byte, error) {
	msg, err := t.Stream.Read()
	if err == nil {
		t.see(Received, msg)
	}
	return msg, err
}

func (t *tap) Write(msg []byte) error {
	t.see(Sent, msg)
	return t.Stream.Write(msg)
}
