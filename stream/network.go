package stream

import "io"

// ErrShutdown is the clean end of a connection whose peer shuts down, so that it can be told
// from other clean ends: errors.Is(err, io.EOF) holds as well. Network streams return it, or
// an error for which errors.Is(err, ErrShutdown) holds.
var ErrShutdown error = shutdown{}

type shutdown struct{}

func (shutdown) Error() string        { return "stream: the peer shuts down" }
func (shutdown) Is(target error) bool { return target == io.EOF }
