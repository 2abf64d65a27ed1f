package main

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

// recorder writes every message that passes a stream to a file, one JSON object a
// line: the seconds since the start, the direction, and the message as it was. The
// file holds all that was said, secrets too.
type recorder struct {
	stream.Stream
	start time.Time

	mu  sync.Mutex // guards out: reading and writing happen at the same time
	out *json.Encoder
}

func record(s stream.Stream, out io.Writer) *recorder {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &recorder{Stream: s, start: time.Now(), out: enc}
}

func (r *recorder) Read() ([]byte, error) {
	msg, err := r.Stream.Read()
	if err == nil {
		r.note("recv", msg)
	}
	return msg, err
}

func (r *recorder) Write(msg []byte) error {
	r.note("send", msg)
	return r.Stream.Write(msg)
}

func (r *recorder) note(dir string, msg []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Encode(struct {
		T   float64 `json:"t"`
		Dir string  `json:"dir"`
		Raw string  `json:"raw"`
	}{time.Since(r.start).Seconds(), dir, string(msg)})
}
