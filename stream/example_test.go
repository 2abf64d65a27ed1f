package stream_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
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

// framed is a Stream over a network connection. The length of each message is written before it.
// Closing the connection makes a blocked Read or Write return, as a Stream must.
type framed struct {
	net.Conn
	in *bufio.Reader
}

func newFramed(conn net.Conn) stream.Stream { return framed{conn, bufio.NewReader(conn)} }

func (s framed) Read() ([]byte, error) {
	var size uint32
	if err := binary.Read(s.in, binary.BigEndian, &size); err != nil {
		return nil, err // io.EOF between two messages is a normal end
	}
	if size > 1<<20 {
		// Skip the message. Reading continues with the next one.
		_, err := s.in.Discard(int(size))
		if err == nil {
			err = &stream.TooLargeError{Size: int64(size), Limit: 1 << 20}
		}
		return nil, err
	}
	msg := make([]byte, size)
	_, err := io.ReadFull(s.in, msg)
	return msg, err
}

func (s framed) Write(msg []byte) error {
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(msg)))
	_, err := s.Conn.Write(append(frame, msg...)) // one call, so that the frame is written as a whole
	return err
}

// A Stream of your own needs three methods. Package streamtest tests it.
func ExampleStream() {
	a, b := net.Pipe()
	near, far := newFramed(a), newFramed(b)
	go func() { // ends when far has read the message
		if err := near.Write([]byte(`{"jsonrpc":"2.0","method":"_hello"}`)); err != nil {
			log.Print(err)
		}
		near.Close()
	}()
	msg, err := far.Read()
	fmt.Println(string(bytes.TrimSpace(msg)), err)
	_, err = far.Read()
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","method":"_hello"} <nil>
	// EOF
}
