// Package envelope reads the part of a JSON-RPC message that is the same for every
// method. [Parse] checks the whole message in one pass and finds its kind, id, method
// and payload. Streams, transports and the engine share it.
//
// The JSON scanner below it ([Skip] and its parts) is the only one of the module.
// Package wire builds its decoders on it. The scanner walks long strings eight bytes at
// a time and is two to three times as fast as encoding/json/jsontext on what an agent
// streams (measured with go1.26). Fuzz tests verify that it accepts what encoding/json
// accepts.
package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// Kind is the kind of a frame.
type Kind uint8

const (
	KindBlank         Kind = iota // only white space; ignored
	KindRequest                   // needs a response
	KindNotification              // never answered
	KindResponse                  // has a result
	KindErrorResponse             // has an error
	KindBadRequest                // answered with -32600, and with the id if it is usable
	KindBadResponse               // fails the call with its id; never answered, so that two peers do not answer each other's errors without end
	KindNotJSON                   // answered with -32700 and id null
)

// MaxID is the maximum length of an id in bytes. A longer id is not echoed.
const MaxID = 1 << 10

// Envelope holds the parts of one frame. All slices point into the frame, unless a name contained
// escapes.
type Envelope struct {
	Kind Kind
	// TooDeep means that the frame is a KindBadRequest or KindBadResponse because it nests deeper
	// than MaxDepth.
	TooDeep bool
	// ID is the id as it was written. It is nil if there is no id that may be echoed.
	ID []byte
	// Method is the method's name without quotes and escapes.
	Method []byte
	// Params, Result and Error are raw values. They are nil if absent.
	Params, Result, Error []byte
	// Reason says what is wrong with a bad frame, without any of its content. It is empty if the
	// name of the error says everything.
	Reason string
}

var bom = []byte("\xef\xbb\xbf")

// Parse finds the parts of a frame in one pass. It checks that the whole frame is one well-formed
// JSON value, and that it is a message. It does not check the content of params, result and error.
func Parse(frame []byte) Envelope {
	i := SkipSpace(frame, 0)
	if i < len(frame) && frame[i] == bom[0] {
		frame = bytes.TrimPrefix(frame[i:], bom)
		i = SkipSpace(frame, 0)
	}
	if i >= len(frame) {
		return Envelope{Kind: KindBlank}
	}
	if frame[i] != '{' {
		return parseOther(frame, i)
	}
	var p envelopeParser
	err := p.object(frame, i, Skip)
	if errors.Is(err, ErrTooDeep) {
		// The method and the id may come after the value that is too deep, so read the top level
		// again without looking inside values.
		p = envelopeParser{}
		err = p.object(frame, i, func(b []byte, i, _ int) (int, error) { return skipLoose(b, i) })
		if err == nil {
			return p.tooDeep()
		}
		return Envelope{Kind: KindBadRequest, TooDeep: true, Reason: reasonTooDeep}
	}
	if err != nil {
		return Envelope{Kind: KindNotJSON, Reason: err.Error()}
	}
	return p.classify()
}

const reasonTooDeep = "message is nested too deep"

// parseOther returns the envelope of a frame that is not an object.
func parseOther(frame []byte, i int) Envelope {
	end, err := Skip(frame, i, MaxDepth)
	if errors.Is(err, ErrTooDeep) {
		return Envelope{Kind: KindBadRequest, TooDeep: true, Reason: reasonTooDeep}
	}
	if err == nil && SkipSpace(frame, end) != len(frame) {
		_, err = syntax(end, "something follows the value")
	}
	if err != nil {
		return Envelope{Kind: KindNotJSON, Reason: err.Error()}
	}
	if frame[i] == '[' {
		return Envelope{Kind: KindBadRequest, Reason: "JSON-RPC batches are not supported"}
	}
	return Envelope{Kind: KindBadRequest}
}

// envelopeParser collects the members of a frame's top level.
type envelopeParser struct {
	version, id, method   []byte
	params, result, error []byte
	duplicate             string
}

// object reads the object at b[i]. skip finds the end of a value.
func (p *envelopeParser) object(b []byte, i int, skip func([]byte, int, int) (int, error)) error {
	i = SkipSpace(b, i+1)
	for more := i >= len(b) || b[i] != '}'; more; {
		if i >= len(b) || b[i] != '"' {
			return &SyntaxError{Offset: i, Msg: "expected a member name"}
		}
		end, err := SkipString(b, i)
		if err != nil {
			return err
		}
		name := b[i+1 : end-1]
		if i = SkipSpace(b, end); i >= len(b) || b[i] != ':' {
			return &SyntaxError{Offset: i, Msg: "expected ':'"}
		}
		i = SkipSpace(b, i+1)
		if end, err = skip(b, i, MaxDepth-1); err != nil {
			return err
		}
		p.member(name, b[i:end:end])
		if i = SkipSpace(b, end); i >= len(b) {
			return &SyntaxError{Offset: i, Msg: "unexpected end"}
		}
		switch b[i] {
		case ',':
			i = SkipSpace(b, i+1)
		case '}':
			more = false
		default:
			return &SyntaxError{Offset: i, Msg: "expected ',' or '}'"}
		}
	}
	if i = SkipSpace(b, i+1); i != len(b) {
		return &SyntaxError{Offset: i, Msg: "something follows the value"}
	}
	return nil
}

func (p *envelopeParser) member(name, value []byte) {
	var known *[]byte
	switch string(name) {
	case "jsonrpc":
		known = &p.version
	case "id":
		known = &p.id
	case "method":
		known = &p.method
	case "params":
		known = &p.params
	case "result":
		known = &p.result
	case "error":
		known = &p.error
	default:
		if bytes.IndexByte(name, '\\') >= 0 {
			if plain := unescapeName(name); bytes.IndexByte(plain, '\\') < 0 {
				p.member(plain, value)
			}
		}
		return
	}
	if *known != nil && p.duplicate == "" {
		p.duplicate = string(name)
	}
	*known = value
}

func (p *envelopeParser) classify() Envelope {
	e := Envelope{Params: p.params}
	if p.id != nil {
		e.ID = p.usableID()
	}
	responds := p.result != nil || p.error != nil || p.method == nil && p.id != nil
	if p.method == nil && responds {
		return p.response(e)
	}
	if p.duplicate == "id" {
		e.ID = nil
	}
	e.Kind = KindBadRequest
	ok := len(p.method) >= 2 && p.method[0] == '"'
	if ok {
		e.Method = p.method[1 : len(p.method)-1]
		if bytes.IndexByte(e.Method, '\\') >= 0 {
			e.Method = unescapeName(e.Method)
		}
	}
	switch {
	case p.duplicate != "":
		e.Reason = "duplicate member " + p.duplicate
	case p.result != nil || p.error != nil:
		e.Reason = "both a request and a response"
	case len(p.id) > MaxID:
		e.Reason = "id is too long"
	case p.id != nil && e.ID == nil && !utf8.Valid(p.id):
		e.Reason = "id is not valid UTF-8"
	case p.id != nil && e.ID == nil:
		e.Reason = "id must be a string, a finite number or null"
	case !ok, string(p.version) != `"2.0"` && !isVersion(p.version):
	case p.id != nil:
		e.Kind = KindRequest
	default:
		e.Kind = KindNotification
	}
	return e
}

func (p *envelopeParser) response(e Envelope) Envelope {
	e.Kind, e.Result, e.Error = KindBadResponse, p.result, p.error
	switch {
	case p.duplicate != "":
		e.Reason = "duplicate member " + p.duplicate
		if p.duplicate == "id" {
			e.ID = nil
		}
	case string(p.version) != `"2.0"` && !isVersion(p.version):
		e.Reason = "jsonrpc is not 2.0"
	case p.result != nil && p.error != nil:
		e.Reason = "both result and error"
	case p.result != nil:
		e.Kind = KindResponse
	case p.error != nil:
		e.Kind = KindErrorResponse
	default:
		e.Reason = "neither result nor error"
	}
	return e
}

// tooDeep returns the envelope of a frame that nests too deep.
func (p *envelopeParser) tooDeep() Envelope {
	e := p.classify()
	switch e.Kind {
	case KindRequest, KindNotification, KindBadRequest:
		e.Kind = KindBadRequest
	default:
		e.Kind = KindBadResponse
	}
	e.TooDeep, e.Reason = true, reasonTooDeep
	e.Params, e.Result, e.Error = nil, nil, nil
	return e
}

// usableID returns the id if it may be echoed: a string of valid UTF-8, null, or a number that every
// language can represent as finite.
func (p *envelopeParser) usableID() []byte {
	if len(p.id) > MaxID {
		return nil
	}
	switch c := p.id[0]; {
	case c == '"' && utf8.Valid(p.id), string(p.id) == "null":
		return p.id
	case IsDigit(c) || c == '-':
		if len(p.id) > 300 || bytes.IndexByte(p.id, 'e') >= 0 || bytes.IndexByte(p.id, 'E') >= 0 {
			if _, err := strconv.ParseFloat(string(p.id), 64); err != nil {
				return nil
			}
		}
		return p.id
	}
	return nil
}

// isVersion reports whether raw is "2.0", with escapes or not.
func isVersion(raw []byte) bool {
	return len(raw) > 5 && raw[0] == '"' && string(unescapeName(raw[1:len(raw)-1])) == "2.0"
}

// unescapeName returns a string without its escapes. name is well formed and has no quotes.
func unescapeName(name []byte) []byte {
	var s string
	quoted := append(append([]byte{'"'}, name...), '"')
	if json.Unmarshal(quoted, &s) != nil {
		return name
	}
	return []byte(s)
}

// skipLoose finds the end of a value of any depth. It checks strings and scalars. Of objects and
// arrays it checks only that they are closed.
func skipLoose(b []byte, i int) (int, error) {
	if i >= len(b) || b[i] != '{' && b[i] != '[' {
		return Skip(b, i, 0)
	}
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			end, err := SkipString(b, i)
			if err != nil {
				return i, err
			}
			i = end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return syntax(len(b), "unexpected end")
}
