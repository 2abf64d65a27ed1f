package rpc

import "runtime"

// handlerStack is what decoding, a short handler and encoding take of a stack, or a
// little more.
const handlerStack = 2 << 10

// growStack makes the stack of the goroutine large enough for most handlers. A new stack
// has about 1 KiB, which a request always exceeds. Go then copies it, frame by frame, and
// that is cheapest while there are few frames: it is a quarter of what a short request
// costs if it happens in the depth of decoding.
//
//go:noinline
func growStack() {
	var room [handlerStack]byte
	runtime.KeepAlive(&room)
}
