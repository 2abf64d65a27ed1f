package strict

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/stream/safetext"
)

// Weight says how much a fault matters.
type Weight int

// The values of [Weight].
const (
	Broken   Weight = iota // a reader may refuse the message
	Forgiven               // a reader must read it as if the member were absent, or leave out the item
	Relative               // the path is not absolute
	Unknown                // a word that the protocol does not know, and that does not begin with an underscore
)

// Fault is what is wrong with one member.
type Fault struct {
	Weight Weight
	Path   string // such as update.content[0].type; "" is the whole
	Text   string // what is wrong, to be read behind the path
}

// Judge returns what is wrong with a payload by a schema of a version.
func Judge(version int, def string, raw []byte) []Fault {
	s := versions[version]()
	v, err := decode(raw)
	if err != nil {
		return []Fault{{Broken, "", "cannot be read"}}
	}
	return s.judge(s.defs[def], v, "")
}

func decode(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

func broken(path, format string, args ...any) []Fault {
	return []Fault{{Broken, path, fmt.Sprintf(format, args...)}}
}

// judge judges a value by a schema.
func (s *set) judge(n *node, v any, path string) (all []Fault) {
	if n == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok {
		all = append(all, s.judge(s.defs[name], v, path)...)
		if name == "AbsolutePath" && all == nil {
			all = relative(path, v)
		}
		return all
	}
	if wrong := n.value(v); wrong != "" {
		return broken(path, "%s", wrong)
	}
	if object, ok := v.(map[string]any); ok {
		all = append(all, s.members(n, object, path)...)
	}
	if list, ok := v.([]any); ok && n.Items != nil {
		for i, one := range list {
			all = append(all, s.judge(n.Items, one, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	for _, part := range n.AllOf {
		all = append(all, s.judge(part, v, path)...)
	}
	if n.AnyOf != nil {
		all = append(all, s.union(n.AnyOf, v, path, false)...)
	}
	if n.OneOf != nil {
		all = append(all, s.union(n.OneOf, v, path, true)...)
	}
	if n.Not != nil && !refused(s.judge(n.Not, v, path)) {
		all = append(all, broken(path, "does not fit what is known of its kind")...)
	}
	return all
}

func refused(all []Fault) bool {
	return slices.ContainsFunc(all, func(f Fault) bool { return f.Weight == Broken })
}

// members judges the members of an object, and forgives what readers must forgive.
func (s *set) members(n *node, object map[string]any, path string) (all []Fault) {
	for _, name := range n.Required {
		if _, ok := object[name]; !ok {
			all = append(all, broken(join(path, name), "is missing")...)
		}
	}
	for name, v := range object {
		member, place := n.Properties[name], join(path, name)
		if member == nil {
			if n.values != nil {
				all = append(all, s.judge(n.values, v, place)...)
			}
			continue
		}
		if member.Unsure {
			continue // its shape was guessed
		}
		if v == nil && member.ForgiveNull {
			all = append(all, Fault{Forgiven, place, "is null instead of an empty list"})
			continue
		}
		found := s.judge(member, v, place)
		if found == nil && pathNames[name] {
			found = relative(place, v)
		}
		for i := range found {
			if f := &found[i]; f.Weight == Broken && (member.Forgive || member.ForgiveItem && strings.HasPrefix(f.Path, place+"[")) {
				f.Weight = Forgiven
			}
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// pathNames are the members that are paths in every object of the protocol which has them.
var pathNames = map[string]bool{"path": true, "cwd": true, "oldPath": true, "additionalDirectories": true}

var absolute = regexp.MustCompile(`^(/|[A-Za-z]:[\\/]|\\\\)`)

// relative reports paths that are not absolute.
func relative(path string, v any) (all []Fault) {
	switch v := v.(type) {
	case string:
		if !absolute.MatchString(v) {
			all = append(all, Fault{Relative, path, fmt.Sprintf("is %s, which is no absolute path", shown(v))})
		}
	case []any:
		for i, one := range v {
			all = append(all, relative(fmt.Sprintf("%s[%d]", path, i), one)...)
		}
	}
	return all
}

// union judges a value that must fit one of several schemas.
func (s *set) union(variants []*node, v any, path string, one bool) []Fault {
	var best, tagged []Fault
	fits, named := 0, false
	for i, n := range s.candidates(variants, v) {
		found := s.judge(n, v, path)
		if !refused(found) {
			if fits++; fits == 1 || len(found) < len(best) {
				best = found
				if n.open() {
					best = append(best, unknown(variants, v, path)...)
				}
			}
		} else if fits == 0 && (i == 0 || len(found) < len(best)) {
			best = found
		}
		if tag, word := s.tag(n); tag != "" && tagOf(v, tag) == word {
			tagged, named = found, true
		}
	}
	switch {
	case fits > 1 && one && !scalar(v):
		return broken(path, "fits more than one of its kinds")
	case fits > 0:
		return best
	case named:
		return tagged
	}
	if words := s.words(variants); words != nil {
		tag, _ := s.tag(variants[0])
		if tag == "" {
			return broken(path, "is %s, which is none of %s", shown(v), strings.Join(words, ", "))
		}
		if object, ok := v.(map[string]any); ok {
			if object[tag] == nil {
				return broken(join(path, tag), "is missing")
			}
			return broken(join(path, tag), "is %s, which is none of %s", shown(object[tag]), strings.Join(words, ", "))
		}
	}
	return best
}

// candidates returns the variants that are judged. If the value has the tag of one of them, those with
// other tags do not fit, whatever else they say.
func (s *set) candidates(variants []*node, v any) []*node {
	has := func(n *node) bool { tag, word := s.tag(n); return tag != "" && tagOf(v, tag) == word }
	if !slices.ContainsFunc(variants, has) {
		return variants
	}
	return slices.DeleteFunc(slices.Clone(variants), func(n *node) bool { tag, _ := s.tag(n); return tag != "" && !has(n) })
}

// open reports whether a variant is for what the protocol does not know yet.
func (n *node) open() bool {
	return n.Not != nil || n.constant == nil && slices.Equal(n.Type, []string{"string"})
}

// unknown reports a word that the protocol does not know and that is not marked as one of an extension.
func unknown(variants []*node, v any, path string) []Fault {
	word, ok := v.(string)
	for _, n := range variants {
		for name, member := range n.Properties {
			if member.constant != nil {
				path, word = join(path, name), tagOf(v, name)
				return unknownWord(word, path)
			}
		}
	}
	if !ok || !slices.ContainsFunc(variants, func(n *node) bool { return n.constant != nil }) {
		return nil
	}
	return unknownWord(word, path)
}

func unknownWord(word, path string) []Fault {
	if word == "" || word[0] == '_' {
		return nil
	}
	return []Fault{{Unknown, path, fmt.Sprintf("is %s, which the protocol does not know, and does not begin with an underscore", shown(word))}}
}

func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// tag returns the member by which a variant is known, and its value.
func (s *set) tag(n *node) (name, word string) {
	for name, member := range n.Properties {
		if text, ok := member.constant.(string); ok {
			return name, text
		}
	}
	return "", ""
}

func tagOf(v any, name string) string {
	object, _ := v.(map[string]any)
	text, _ := object[name].(string)
	return text
}

// words returns the values of an enumeration, or the tags of a union; nil if the variants are neither.
func (s *set) words(variants []*node) (all []string) {
	for _, n := range variants {
		word, ok := n.constant.(string)
		if _, tag := s.tag(n); !ok {
			word = tag
		}
		if word == "" {
			return nil
		}
		all = append(all, word)
	}
	return all
}

// value says what is wrong with a value, apart from its members and items.
func (n *node) value(v any) string {
	if n.Type != nil && !slices.ContainsFunc(n.Type, func(t string) bool { return is(v, t) }) {
		return fmt.Sprintf("is %s instead of %s", kind(v), strings.Join(n.Type, " or "))
	}
	if n.constant != nil && !reflect.DeepEqual(n.constant, v) {
		return fmt.Sprintf("is %s instead of %s", shown(v), shown(n.constant))
	}
	if n.Enum != nil && !slices.ContainsFunc(n.Enum, func(one any) bool { return reflect.DeepEqual(one, v) }) {
		return fmt.Sprintf("is %s, which is none of %v", shown(v), n.Enum)
	}
	switch v := v.(type) {
	case json.Number:
		return n.number(v)
	case string:
		if n.MinLength != nil && utf8.RuneCountInString(v) < *n.MinLength {
			return "is too short"
		}
		return n.text(v)
	case []any:
		if n.MinItems != nil && len(v) < *n.MinItems {
			return fmt.Sprintf("has %d items instead of at least %d", len(v), *n.MinItems)
		}
	}
	return ""
}

// ranges are the formats of integers.
var ranges = map[string][2]string{
	"uint16": {"0", "65535"}, "uint32": {"0", "4294967295"}, "uint64": {"0", "18446744073709551615"},
	"int32": {"-2147483648", "2147483647"}, "int64": {"-9223372036854775808", "9223372036854775807"},
}

func (n *node) number(v json.Number) string {
	got, ok := new(big.Rat).SetString(bounded(v))
	if !ok {
		return ""
	}
	least, most := n.Minimum, n.Maximum
	if r, ok := ranges[n.Format]; ok {
		low, high := json.Number(r[0]), json.Number(r[1])
		if least == nil {
			least = &low
		}
		if most == nil {
			most = &high
		}
	}
	for _, bound := range []struct {
		at    *json.Number
		wrong int
		word  string
	}{{least, -1, "less"}, {most, 1, "more"}} {
		if bound.at == nil {
			continue
		}
		if limit, ok := new(big.Rat).SetString(bound.at.String()); ok && got.Cmp(limit) == bound.wrong {
			return fmt.Sprintf("is %s, which is %s than %s", shown(v), bound.word, bound.at)
		}
	}
	return ""
}

// bounded returns a number whose exponent is small, so that it costs little to compare.
func bounded(v json.Number) string {
	text := v.String()
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e > 400 || e < -400 {
			return ""
		}
	}
	return text
}

func (n *node) text(v string) string {
	switch n.Format {
	case "date-time":
		if _, err := time.Parse(time.RFC3339, v); err != nil {
			return fmt.Sprintf("is %s, which is no time of RFC 3339", shown(v))
		}
	case "uri":
		if u, err := url.Parse(v); err != nil || u.Scheme == "" {
			return fmt.Sprintf("is %s, which is no URI", shown(v))
		}
	}
	if n.Encoding == "base64" {
		if _, err := base64.StdEncoding.DecodeString(v); err != nil {
			return "is not base64"
		}
	}
	return ""
}

func is(v any, t string) bool {
	if number, ok := v.(json.Number); ok && t == "integer" {
		r, ok := new(big.Rat).SetString(bounded(number))
		return ok && r.IsInt()
	}
	return kind(v) == t
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shownBytes is how much of a value a text has.
const shownBytes = 80

func shown(v any) string {
	if text, ok := v.(string); ok {
		return `"` + safetext.OneLine(text, shownBytes) + `"`
	}
	b, _ := json.Marshal(v) // it was JSON
	return safetext.OneLine(string(b), shownBytes)
}
