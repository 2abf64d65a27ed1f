package endpoint_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/endpoint"
)

// An agent may list its versions in any form. Invalid entries are skipped.
func TestSupportedVersions(t *testing.T) {
	for data, want := range map[string][]int{
		`{"requested":2,"supported":[1]}`:                        {1},
		`{"requested":2,"supported":[3,4]}`:                      {3, 4},
		`{"supported":["3","4"]}`:                                {3, 4},
		`{"supported":[3.0,4e0]}`:                                {3, 4},
		`{"supported":3}`:                                        {3},
		`{"supported":["draft",null,1.5,-1,65536,{},[],true,3]}`: {3},
		`{"supported":["draft"]}`:                                nil,
		`{"supported":[]}`:                                       nil,
		`{"supported":null}`:                                     nil,
		`{"supported":{}}`:                                       nil,
		`{"supportedVersions":[3]}`:                              nil,
		`[3]`:                                                    nil,
		`"3"`:                                                    nil,
		`null`:                                                   nil,
		``:                                                       nil,
	} {
		assert.Equal(t, want, endpoint.SupportedVersions([]byte(data)), data)
	}
}
