package envelope

// What stands here is in types of package stream and is for the packages of this module alone: those
// types embed it, under a name that is not exported, and its methods are not exported either. So it
// is no part of the API of package stream, and a stream that knows nothing of it works as well.

// Parsed is an envelope together with the frame that it points into. A stream.Message that was
// parsed embeds it, so that whoever reads the message need not parse it again.
type Parsed struct {
	envelope Envelope
	frame    []byte
}

// ParseOnce parses a frame. It returns the envelope too, which must not be modified.
func ParseOnce(frame []byte) (*Parsed, *Envelope) {
	p := &Parsed{Parse(frame), frame}
	return p, &p.envelope
}

func (p *Parsed) parsed() *Parsed { return p }

// Handed returns the envelope of a message whose data is frame. It returns nil if the message was not
// parsed, or other bytes than frame were.
func Handed(message interface{ parsed() *Parsed }, frame []byte) *Envelope {
	p := message.parsed()
	if p == nil || len(frame) == 0 || len(frame) != len(p.frame) || &frame[0] != &p.frame[0] {
		return nil
	}
	return &p.envelope
}

// Unchecked is for a stream whose Read skips what is not JSON. Whoever reads the stream parses every
// message, so the stream need not do it too. stream.Features embed it.
type Unchecked struct {
	leave func() (noise func(line []byte) (skipped bool))
}

func (u *Unchecked) unchecked() *Unchecked { return u }

// features are those of a stream.
type features interface{ unchecked() *Unchecked }

// SetUnchecked gives f a function that makes the stream leave its checks to whoever reads it. After
// a call of leave, Read returns every message that begins like an object, and lines that may hold
// one. What is not a message is passed to the function that leave returned, on the goroutine that
// reads, in place of being answered. The next calls of Read return the messages that were found in
// it. skipped reports whether there was anything else in it.
func SetUnchecked(f features, leave func() (noise func(line []byte) (skipped bool))) {
	f.unchecked().leave = leave
}

// LeaveChecks makes the stream leave its checks to the caller, and returns the function that takes
// what is not a message. It returns nil if the stream skips nothing.
func LeaveChecks(f features) (noise func(line []byte) (skipped bool)) {
	if leave := f.unchecked().leave; leave != nil {
		return leave()
	}
	return nil
}
