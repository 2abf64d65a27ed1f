package main

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

// record writes every message that passes a stream to out, one JSON object a line:
// the seconds since the start, the direction, and the message as it was. The file
// holds all that was said, secrets too.
func record(s stream.Stream, out io.Writer) stream.Stream {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	start := time.Now()
	names := map[stream.Direction]string{stream.Received: "recv", stream.Sent: "send"}
	var mu sync.Mutex // guards enc: reading and writing happen at the same time
	return stream.Tap(s, func(dir stream.Direction, msg []byte) {
		mu.Lock()
		defer mu.Unlock()
		enc.Encode(struct {
			T   float64 `json:"t"`
			Dir string  `json:"dir"`
			Raw string  `json:"raw"`
		}{time.Since(start).Seconds(), names[dir], string(msg)})
	})
}
