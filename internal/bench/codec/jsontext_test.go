// Package codec_test compares the codecs of package acp with jsontext, which is a
// dependency of this module so that acpkit need not have it. Run it in the folder of
// the module:
//
//	go test -run '^$' -bench . ./codec
package codec_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// A payload is read by its codec, and by hand on the tokens of jsontext.
type payload struct {
	name     string
	codec    *wire.Codec
	value    any
	jsontext func(*jsontext.Decoder) (any, error)
}

func payloads() []payload {
	update := wire.Notification(acp.ProtocolVersion, acp.MethodSessionUpdate).Params
	read := wire.Request(acp.ProtocolVersion, acp.MethodFSReadTextFile).Result
	line := strings.Repeat("0123456789abcde ", 4)[:63] + "\n"
	code := "\tif err := run(ctx, \"name\", args); err != nil {\n\t\treturn fmt.Errorf(\"running %q: %w\", name, err)\n\t}\n"
	return []payload{
		{"chunk", update, &acp.SessionNotification{SessionID: "sess_0123456789abcdef", Update: acp.AgentText(strings.Repeat("word ", 20))}, readChunk},
		{"read1MiB", read, &acp.ReadTextFileResponse{Content: strings.Repeat(line, 1<<20/64)}, readFile},
		{"readGo1MiB", read, &acp.ReadTextFileResponse{Content: strings.Repeat(code, 1<<20/len(code))}, readFile},
	}
}

var tolerant = []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}

// Both decoders read the same values.
func TestBothReadTheSame(t *testing.T) {
	for _, p := range payloads() {
		raw, err := p.codec.Append(nil, p.value)
		require.NoError(t, err)
		byCodec, _, err := p.codec.Decode(raw)
		require.NoError(t, err)
		byHand, err := p.jsontext(jsontext.NewDecoder(bytes.NewReader(raw), tolerant...))
		require.NoError(t, err)
		require.Equal(t, p.value, byCodec, p.name)
		require.Equal(t, p.value, byHand, p.name)
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, p := range payloads() {
		raw, err := p.codec.Append(nil, p.value)
		require.NoError(b, err)
		b.Run(p.name+"/codec", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := p.codec.Decode(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(p.name+"/jsontext", func(b *testing.B) {
			dec := jsontext.NewDecoder(bytes.NewReader(nil), tolerant...)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				dec.Reset(bytes.NewBuffer(raw), tolerant...)
				if _, err := p.jsontext(dec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSkip(b *testing.B) {
	for _, p := range payloads() {
		raw, err := p.codec.Append(nil, p.value)
		require.NoError(b, err)
		b.Run(p.name+"/envelope", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := envelope.Skip(raw, 0, envelope.MaxDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(p.name+"/jsontext", func(b *testing.B) {
			dec := jsontext.NewDecoder(bytes.NewReader(nil), tolerant...)
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				dec.Reset(bytes.NewBuffer(raw), tolerant...)
				if err := dec.SkipValue(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// members reads an object and calls each with the name of every member.
func members(dec *jsontext.Decoder, each func(name string) error) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := each(name.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func text(dec *jsontext.Decoder, p *string) error {
	tok, err := dec.ReadToken()
	if err == nil {
		*p = tok.String()
	}
	return err
}

// readChunk reads an agent_message_chunk. Unlike a codec, it assumes that tags come first and that
// every member is present and valid.
func readChunk(dec *jsontext.Decoder) (any, error) {
	v, chunk, content := &acp.SessionNotification{}, &acp.AgentMessageChunk{}, &acp.TextContent{}
	var tag string
	return v, members(dec, func(name string) error {
		switch name {
		case "sessionId":
			return text(dec, (*string)(&v.SessionID))
		case "update":
			v.Update = chunk
			return members(dec, func(name string) error {
				switch name {
				case "sessionUpdate":
					return text(dec, &tag)
				case "content":
					chunk.Content = content
					return members(dec, func(name string) error {
						switch name {
						case "type":
							return text(dec, &tag)
						case "text":
							return text(dec, &content.Text)
						}
						return dec.SkipValue()
					})
				}
				return dec.SkipValue()
			})
		}
		return dec.SkipValue()
	})
}

func readFile(dec *jsontext.Decoder) (any, error) {
	v := &acp.ReadTextFileResponse{}
	return v, members(dec, func(name string) error {
		if name == "content" {
			return text(dec, &v.Content)
		}
		return dec.SkipValue()
	})
}
