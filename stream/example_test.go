package stream_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/acpkit/go-sdk/stream"
)

// Both ends in one process.
func ExamplePipe() {
	near, far := stream.Pipe()
	go func() { // ends when near is closed
		for {
			msg, err := far.Read()
			if err != nil {
				return
			}
			_ = far.Write(append([]byte("you said "), msg...))
		}
	}()
	_ = near.Write([]byte(`{"hello":"world"}`))
	msg, err := near.Read()
	fmt.Println(string(msg), err)
	_ = near.Close()
	// Output: you said {"hello":"world"} <nil>
}

// A message that is too long is skipped. The error says which message it was.
func ExampleLines() {
	in := strings.NewReader("{\"id\":1,\"result\":{}}\r\n" +
		"{\"id\":2,\"result\":\"" + strings.Repeat("very ", 1000) + "long\"}\n" +
		"{\"id\":3,\"result\":{}}")
	s := stream.Lines(in, os.Stdout, &stream.LinesOptions{MaxMessage: 1000})
	for {
		msg, err := s.Read()
		var large *stream.TooLargeError
		switch {
		case errors.As(err, &large):
			fmt.Printf("skipped the response to %s, %d bytes\n", large.ID, large.Size)
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			fmt.Println(err)
			return
		default:
			fmt.Println(string(msg))
		}
	}
	// Output:
	// {"id":1,"result":{}}
	// skipped the response to 2, 5024 bytes
	// {"id":3,"result":{}}
}
