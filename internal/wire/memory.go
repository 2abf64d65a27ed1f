package wire

import (
	"math/bits"
	"unsafe"
)

// A decoded message may hold at most ten times its length. A Decoder charges everything it builds,
// with the size that the allocator uses for it. Fields of the protocol have fixed types, so they
// are charged and never refused. The content of a `_meta` is decoded only within the budget (see
// Decoder.Map).
const (
	// memoryFactor times the bytes read so far is the budget at any place in the message. It is
	// less than ten because later fields may need more than their share, and because slices grow in
	// steps.
	memoryFactor = 8
	// memoryFree is an additional budget of every message, so that the `_meta` of a short message
	// is decoded completely.
	memoryFree = 16 << 10
)

// Held returns the bytes of memory that the values read so far occupy.
func (d *Decoder) Held() int64 { return int64(d.held) }

// Hold charges an allocation of n bytes.
func (d *Decoder) Hold(n int) { d.held += allocated(n) }

// affords reports whether the message may hold n more bytes once it has been read up
// to end.
func (d *Decoder) affords(n, end int) bool {
	return d.held+n <= memoryFree+memoryFactor*end
}

// New returns a new T and charges it.
func New[T any](d *Decoder) *T {
	v := new(T)
	d.Hold(int(unsafe.Sizeof(*v))) // Sizeof is a constant; nothing unsafe happens
	return v
}

// sizeOf returns the size of a T in bytes.
func sizeOf[T any]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// allocated returns the size that the allocator uses for n bytes. For more than a few bytes it is
// at most an eighth more than n.
func allocated(n int) int {
	if n <= 512 {
		return (n + 15) &^ 15
	}
	step := min(1<<(bits.Len(uint(n-1))-4), 8<<10)
	return (n + step - 1) &^ (step - 1)
}

const (
	sliceHeader  = 24
	stringHeader = 16
	mapHeader    = 48
	mapGroup     = 8 // a map with one member has room for this many
)

// mapSize returns the size of a map with n members of slot bytes each. A map doubles its room when
// it is seven eighths full.
func mapSize(n, slot int) int {
	if n == 0 {
		return mapHeader
	}
	slots := mapGroup
	if n > mapGroup {
		slots = 1 << bits.Len(uint(n*8/7))
	}
	return mapHeader + allocated(slots*(slot+1))
}
