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
// logs, recordings and tests. It does not change messages, and it implements the optional
// interfaces that s implements, so that a connection over it behaves like one over s.
//
// see is called before a message is written, and after one was read. It must not retain or
// modify msg. The reader and the writer of the stream call it, possibly at the same time,
// and wait for it. Where s refuses a batch with *[MessageError], its messages are shown
// again when they are written one by one.
func Tap(s Stream, see func(dir Direction, msg []byte)) Stream {
	t := &tap{Stream: s, see: see}
	_, reads := s.(MessageReader)
	_, writes := s.(MessageWriter)
	_, batches := s.(BatchWriter)
	switch {
	case reads && writes && batches:
		return struct {
			*tap
			tapReader
			tapWriter
			tapBatches
		}{t, tapReader{t}, tapWriter{t}, tapBatches{t}}
	case reads && writes:
		return struct {
			*tap
			tapReader
			tapWriter
		}{t, tapReader{t}, tapWriter{t}}
	case reads && batches:
		return struct {
			*tap
			tapReader
			tapBatches
		}{t, tapReader{t}, tapBatches{t}}
	case writes && batches:
		return struct {
			*tap
			tapWriter
			tapBatches
		}{t, tapWriter{t}, tapBatches{t}}
	case reads:
		return struct {
			*tap
			tapReader
		}{t, tapReader{t}}
	case writes:
		return struct {
			*tap
			tapWriter
		}{t, tapWriter{t}}
	case batches:
		return struct {
			*tap
			tapBatches
		}{t, tapBatches{t}}
	}
	return t
}

// tap implements those optional interfaces whose methods can report that s does not
// implement them. It is no TolerantReader: s itself skips what is not JSON, so that see
// is called with messages only.
type tap struct {
	Stream

	see func(Direction, []byte)
}

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

// Written implements [ProgressWriter]. A stream without one never makes progress.
func (t *tap) Written() int64 {
	if s, ok := t.Stream.(ProgressWriter); ok {
		return s.Written()
	}
	return 0
}

// Hasten implements [Hastener].
func (t *tap) Hasten() {
	if s, ok := t.Stream.(Hastener); ok {
		s.Hasten()
	}
}

// SingleInitialize implements [SingleInitializer].
func (t *tap) SingleInitialize() bool {
	s, ok := t.Stream.(SingleInitializer)
	return ok && s.SingleInitialize()
}

// Draining implements [Drainer]. A stream without one never drains.
func (t *tap) Draining() <-chan struct{} {
	if s, ok := t.Stream.(Drainer); ok {
		return s.Draining()
	}
	return nil
}

// CloseFor implements [ReasonCloser]. A stream without it is closed.
func (t *tap) CloseFor(why Reason) error { return closeFor(t.Stream, why) }

// closeFor closes s and tells it why, if it can make use of that.
func closeFor(s Stream, why Reason) error {
	if c, ok := s.(ReasonCloser); ok {
		return c.CloseFor(why)
	}
	return s.Close()
}

type tapReader struct{ t *tap }

func (r tapReader) ReadMessage() (Message, error) {
	m, err := r.t.Stream.(MessageReader).ReadMessage()
	if err == nil {
		r.t.see(Received, m.Data)
	}
	return m, err
}

type tapWriter struct{ t *tap }

func (w tapWriter) WriteMessage(m Message) error {
	w.t.see(Sent, m.Data)
	return w.t.Stream.(MessageWriter).WriteMessage(m)
}

type tapBatches struct{ t *tap }

func (w tapBatches) WriteBatch(msgs [][]byte) error {
	for _, msg := range msgs {
		w.t.see(Sent, msg)
	}
	return w.t.Stream.(BatchWriter).WriteBatch(msgs)
}
