package elicitation_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/elicitation"
)

// What the patterns and lists of a form cost does not depend on what the agent has chosen: they are compared
// with a pattern that everyone may use, for a text of a megabyte.
func TestCostOfForms(t *testing.T) {
	took := func(f func()) float64 {
		best := math.Inf(1)
		for range 3 {
			begin := time.Now()
			f()
			best = min(best, time.Since(begin).Seconds())
		}
		return best
	}
	usual := regexp.MustCompile(`^(\w+|[-.])*$`)
	unit := took(func() { assert.True(t, usual.MatchString(strings.Repeat("ab-", 1<<20/3))) })

	many := map[string]string{}
	for i := range 2000 {
		many[strconv.Itoa(i)] = strings.Repeat(`(?i)[\pL\pN]`, 78)
	}
	choices := make([]string, 20_000)
	for i := range choices {
		choices[i] = strconv.Itoa(i)
	}
	for name, c := range map[string]struct {
		patterns map[string]string
		text     string
		choices  []string
	}{
		"a long pattern":      {map[string]string{"a": strings.Repeat("a?", 150_000)}, "aaa", nil},
		"nested repetitions":  {map[string]string{"a": "(((a{0,9}){0,9}){0,9}){0,1}$"}, strings.Repeat("a", 100_000), nil},
		"a repetition":        {map[string]string{"a": "(a?){1000}(a?){1000}b"}, strings.Repeat("a", 300_000), nil},
		"classes":             {map[string]string{"a": strings.Repeat(`(?i)\pL`, 140)}, strings.Repeat("a", 1000), nil},
		"parentheses":         {map[string]string{"a": strings.Repeat("(", 2000) + strings.Repeat(")", 2000)}, "a", nil},
		"many patterns":       {many, "a", nil},
		"many chosen of many": {nil, "", choices},
	} {
		schema := &acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{}}
		values := map[string]acp.ElicitationContentValue{}
		for field, pattern := range c.patterns {
			schema.Properties[field] = &acp.StringPropertySchema{Pattern: pattern}
			values[field] = acp.ElicitationString(c.text)
		}
		if c.choices != nil {
			schema.Properties["list"] = &acp.MultiSelectPropertySchema{Items: &acp.StringMultiSelectItems{Enum: c.choices}}
			values["list"] = acp.ElicitationStrings(c.choices)
		}
		units := took(func() { _ = elicitation.Check(schema, values) }) / unit // an invalid value is fine
		t.Logf("%s: %.2f", name, units)
		assert.LessOrEqual(t, units, 20.0, name)
	}
}

// The agent checks what would take too long here.
func TestPatternsThatTakeLongAreLeftToTheAgent(t *testing.T) {
	check := func(pattern, text string) error {
		schema := &acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{"a": &acp.StringPropertySchema{Pattern: pattern}}}
		return elicitation.Check(schema, map[string]acp.ElicitationContentValue{"a": acp.ElicitationString(text)})
	}
	assert.Error(t, check("^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}$", "x"))
	assert.Error(t, check("^a*$", strings.Repeat("a", 10_000)+"b"))
	assert.NoError(t, check("^a*$"+strings.Repeat("|b", 4096), "c"), "a long one")
	assert.NoError(t, check("^(a{9}){99}$", strings.Repeat("b", 100_000)), "a large one")
	assert.NoError(t, check("(?=a)", "c"), "one that Go does not support")
}
