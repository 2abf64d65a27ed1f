package chat

import (
	"regexp"
	"strings"

	"github.com/acpkit/go-sdk/internal/completions"
)

// This file lists the habits of services and servers. testdata/habits.txt has an answer for each, and
// where it is from.

// A service has what is known of a service by the end of its host.
type service struct {
	host    string
	refuses []string          // members that requests must not have
	header  string            // for the key, beside Authorization
	id      func(string) bool // reports whether the id of a call is valid
}

var services = []service{
	{host: "mistral.ai", refuses: completions.Kept, id: regexp.MustCompile(`^[A-Za-z0-9]{9}$`).MatchString},
	{host: "groq.com", refuses: []string{"reasoning_content", "reasoning_details"}},
	{host: "cerebras.ai", refuses: []string{"reasoning_content", "reasoning_details"}},
	{host: ".azure.com", header: "api-key"},
}

// A change is another form of the request, made after a service has refused the usual one. It holds
// for the model from then on.
type change string

// The changes besides those that leave out the member that they are named for.
const (
	noImages      change = "images"        // images are left out
	noNull        change = "null"          // a message without a text has an empty one
	completionMax change = "max_tokens"    // max_completion_tokens takes its place
	anyReasoning  change = "any reasoning" // messages with calls have reasoning_content, even if it is not known
	anySignature  change = "any signature" // calls have a thought signature, even if it is not known
	noKept        change = "kept"          // no kept members
)

// changes lists which refusal asks for which change. The first one that applies is made.
var changes = []struct {
	change
	asked *regexp.Regexp
}{
	{anyReasoning, regexp.MustCompile(`(?i)reasoning_content.{0,80}(missing|required|must|passed back)|missing.{0,40}reasoning_content`)},
	{anySignature, regexp.MustCompile(`(?i)missing.{0,40}thought_signature|thought_signature.{0,60}(missing|required)`)},
	{"stream_options", refuses("stream_options|include_usage")},
	{completionMax, regexp.MustCompile(`(?i)max_completion_tokens`)},
	{"temperature", refuses("temperature")},
	{"reasoning_content", refuses("reasoning_content")}, {"reasoning_details", refuses("reasoning_details")}, {"reasoning", refuses("reasoning")},
	{"extra_content", refuses("extra_content|thought_signature")},
	{noKept, refuses(strings.Join(completions.Kept, "|"))},
	{noImages, regexp.MustCompile(`(?i)\bimages?\b|image_url|vision|multi-?modal|mmproj|content.{0,80}(expected|must be|should be|valid).{0,20}(string|text)`)},
	{noNull, regexp.MustCompile(`(?i)content.{0,60}(null|none\b|required|string)|(null|none).{0,40}content`)},
	{noKept, regexp.MustCompile(`^$`)}, // some services refuse a member with an empty body
}

// takesNone matches what services say of a model that takes no images.
var takesNone = regexp.MustCompile(`(?i)(support|accept).{0,30}\bimages?\b|\bimages?\b.{0,30}(support|accept)`)

func refuses(member string) *regexp.Regexp {
	const no = `(not permitted|not allowed|not supported|n't support|unsupported|unknown|unexpected|unrecogni[sz]ed|forbidden|extra|invalid|additional|does not support)`
	return regexp.MustCompile(`(?is)\b(` + member + `)\b.*` + no + `|` + no + `.*\b(` + member + `)\b`)
}

// statuses finds the status of an error that has none, by its code and text.
var statuses = []struct {
	status  int
	pattern *regexp.Regexp
}{
	{429, regexp.MustCompile(`(?i)rate.?limit|too many requests|throttl|resource.?exhausted`)},
	{529, regexp.MustCompile(`(?i)overloaded`)},
	{401, regexp.MustCompile(`(?i)invalid_api_key|authentication_error|unauthenticated`)},
	{402, regexp.MustCompile(`(?i)insufficient.?(quota|balance|credit|fund)`)},
	{400, regexp.MustCompile(`(?i)invalid_request|invalid_argument|bad_request`)},
	{503, regexp.MustCompile(`(?i)server_error|internal|unavailable|api_error`)},
}

var (
	// badKey matches what services say of a key that is missing or wrong, with any status.
	badKey = regexp.MustCompile(`(?i)api.?key.{0,30}(not valid|invalid|incorrect|expired|missing|not found|required)|(invalid|incorrect|missing|wrong|no|provide an?|expired).{0,20}api.?key|invalid_api_key|unauthenticated|authentication_error|invalid.{0,12}(token|credential)s?\b`)

	// unpaid matches what services say of an account without credit.
	unpaid = regexp.MustCompile(`(?i)insufficient.{0,20}(quota|balance|credit|fund)|billing|payment required|out of credits|exceeded your current quota|arrear|余额`)

	// permanent matches errors that come again, whatever their status.
	permanent = regexp.MustCompile(unpaid.String() + `|does not support|not supported|unsupported|more system memory|template|jinja|invalid`)
)
