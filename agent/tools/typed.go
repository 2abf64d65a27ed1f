package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/typed"
	"github.com/acpkit/go-sdk/internal/validate"
)

// Typed returns a tool whose input is the struct In. It panics for a mistake in the program: run is
// nil, In is not a struct, a field cannot be decoded from JSON, or a rule does not exist. The caller
// sets Kind and Effect of the tool, and Describe if the person should read more than the title.
//
// The tag json names a field, the tag description describes it for the model, and the tag validate
// has the rules of github.com/go-playground/validator. The rules required, min, max, gte, lte, len
// and oneof are also part of the schema. The rule required means that the member must be present and
// not null; 0 and "" are values like others. Give it to each member whose absence must not be taken
// for its zero value.
//
//	type in struct {
//		Path string `json:"path" description:"absolute path" validate:"required,min=1"`
//		Line int    `json:"line,omitempty" description:"first line, from 1" validate:"min=0"`
//	}
//
// An input is read as the schema means it: "10" is 10 where a number is asked for, "true" is true, a
// text with a list or an object in JSON is that list or object, and null is absent. Names match
// exactly. Members that In does not have are ignored, because models sometimes add members.
//
// If an input breaks a rule, the function run is not called, the person is not asked, and the model
// reads which rule it is, and which members exist. A Describe of the caller does the same by
// returning the error of [DecodeInput] as Summary.Err.
func Typed[In any](name, description string, run func(ctx context.Context, c *Call, in In) (Result, error)) Tool {
	s, err := typed.Of(reflect.TypeFor[In]())
	if err != nil {
		panic(fmt.Sprintf("tools: the input of %s: %v", name, err))
	}
	if run == nil {
		panic(fmt.Sprintf("tools: %s has no function: pass the one that runs a call", name))
	}
	data, _ := json.Marshal(s) // texts and numbers
	return Tool{
		Name: name, Description: description, Kind: acp.ToolKindOther, Schema: data,
		Describe: func(_ context.Context, input json.RawMessage) Summary {
			_, err := DecodeInput[In](input)
			return Summary{Err: err} // nobody is asked about a call that cannot run
		},
		Run: func(ctx context.Context, c *Call) (Result, error) {
			in, err := DecodeInput[In](c.input)
			if err != nil {
				return Result{}, err
			}
			return run(ctx, c, in)
		},
	}
}

const maxWrong = 20 // sentences about one input; the model needs no more to call again

// DecodeInput decodes an input in the same way as Typed, for use in Describe. Its error is a
// [Failure] that tells the model what is wrong.
func DecodeInput[In any](input json.RawMessage) (in In, err error) {
	s, err := typed.Of(reflect.TypeFor[In]())
	if err != nil {
		return in, err // Typed panics with it
	}
	fitted, wrong := s.Fit(input)
	if len(wrong) == 0 {
		if err := json.Unmarshal(fitted, &in); err != nil {
			wrong = []string{"a value has another form than the schema says"} // a decoder of the program refuses it
		} else if broken := validate.Input(&in); broken != nil {
			broken.Walk(func(path []string, message string) {
				wrong = append(wrong, strconv.Quote(strings.Join(path, "."))+" "+message)
			})
		}
	}
	if len(wrong) > 0 {
		return in, Failf("The input does not fit the schema: %s. Call the tool again.", strings.Join(wrong[:min(len(wrong), maxWrong)], "; "))
	}
	return in, nil
}
