package elicitation

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/acp"
)

// FieldError reports that the value of one field violates the rules of the form.
type FieldError struct {
	Field   string
	Problem string
}

func (e *FieldError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Problem) }

// Check returns an error if values violate the rules of the form s: a *[FieldError] for
// each invalid field, joined. Fields of an unknown type are not checked. The agent must check patterns that
// Go does not support, and those that are long or take long; the patterns of a form take
// a fraction of a second together.
func Check(s *acp.ElicitationSchema, values map[string]acp.ElicitationContentValue) error {
	var errs []error
	patterns := patterns{left: patternSteps}
	for _, name := range s.Required {
		if _, ok := values[name]; !ok {
			errs = append(errs, &FieldError{name, "must be filled in"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		problem := "is not a field of the form"
		if p, ok := s.Properties[name]; ok {
			problem = checkValue(p, values[name], &patterns)
		}
		if problem != "" {
			errs = append(errs, &FieldError{name, problem})
		}
	}
	return errors.Join(errs...)
}

// checkValue returns what is wrong with a value. The text continues after the field's name.
func checkValue(p acp.ElicitationPropertySchema, v acp.ElicitationContentValue, patterns *patterns) string {
	switch p := p.(type) {
	case *acp.StringPropertySchema:
		if v, ok := v.(acp.ElicitationString); ok {
			return checkText(p, string(v), patterns)
		}
		return "must be a text"
	case *acp.BooleanPropertySchema:
		if _, ok := v.(acp.ElicitationBoolean); !ok {
			return "must be yes or no"
		}
	case *acp.IntegerPropertySchema:
		v, ok := v.(acp.ElicitationInteger)
		switch {
		case !ok:
			return "must be a whole number"
		case p.Minimum != nil && int64(v) < *p.Minimum:
			return fmt.Sprintf("must be at least %d", *p.Minimum)
		case p.Maximum != nil && int64(v) > *p.Maximum:
			return fmt.Sprintf("must be at most %d", *p.Maximum)
		}
	case *acp.NumberPropertySchema:
		f, ok := number(v)
		switch {
		case !ok:
			return "must be a number"
		case p.Minimum != nil && f < *p.Minimum:
			return fmt.Sprintf("must be at least %v", *p.Minimum)
		case p.Maximum != nil && f > *p.Maximum:
			return fmt.Sprintf("must be at most %v", *p.Maximum)
		}
	case *acp.MultiSelectPropertySchema:
		if v, ok := v.(acp.ElicitationStrings); ok {
			return checkChoices(p, v)
		}
		return "must be a list"
	}
	return ""
}

func number(v acp.ElicitationContentValue) (float64, bool) {
	switch v := v.(type) {
	case acp.ElicitationInteger:
		return float64(v), true
	case acp.ElicitationNumber:
		return float64(v), !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
	}
	return 0, false
}

func checkText(p *acp.StringPropertySchema, s string, patterns *patterns) string {
	n := uint64(utf8.RuneCountInString(s))
	switch {
	case p.MinLength != nil && n < uint64(*p.MinLength):
		return fmt.Sprintf("must have at least %d characters", *p.MinLength)
	case p.MaxLength != nil && n > uint64(*p.MaxLength):
		return fmt.Sprintf("must have at most %d characters", *p.MaxLength)
	case len(p.Enum) > 0 && !slices.Contains(p.Enum, s),
		len(p.OneOf) > 0 && !slices.ContainsFunc(p.OneOf, func(o acp.EnumOption) bool { return o.Const == s }):
		return "must be one of the choices"
	}
	if !patterns.match(p.Pattern, s) {
		return "must match " + p.Pattern
	}
	return checkFormat(p.Format, s)
}

func checkFormat(f acp.StringFormat, s string) string {
	var err error
	switch f {
	case acp.StringFormatEmail:
		var a *mail.Address
		if a, err = mail.ParseAddress(s); err == nil && a.Address != s {
			return "must be the address alone"
		}
	case acp.StringFormatURI:
		var u *url.URL
		if u, err = url.Parse(s); err == nil && !u.IsAbs() {
			return "must be a whole address"
		}
	case acp.StringFormatDate:
		_, err = time.Parse(time.DateOnly, s)
	case acp.StringFormatDateTime:
		_, err = time.Parse(time.RFC3339, s)
	}
	if err != nil {
		return "must be of the form " + string(f)
	}
	return ""
}

func checkChoices(p *acp.MultiSelectPropertySchema, v []string) string {
	var choices []string
	switch items := p.Items.(type) {
	case *acp.StringMultiSelectItems:
		choices = items.Enum
	case *acp.TitledMultiSelectItems:
		for _, o := range items.AnyOf {
			choices = append(choices, o.Const)
		}
	default:
		choices = v
	}
	offered := make(map[string]bool, len(choices))
	for _, s := range choices {
		offered[s] = true
	}
	for _, s := range v {
		if !offered[s] {
			return "must hold choices of the list only"
		}
	}
	switch {
	case p.MinItems != nil && uint64(len(v)) < *p.MinItems:
		return fmt.Sprintf("must have at least %d choices", *p.MinItems)
	case p.MaxItems != nil && uint64(len(v)) > *p.MaxItems:
		return fmt.Sprintf("must have at most %d choices", *p.MaxItems)
	}
	return ""
}
