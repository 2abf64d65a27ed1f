package permission

import (
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/stream/safetext"
)

// ownOptions are the options of a question that the agent did not ask.
var ownOptions = []Option{
	{ID: AllowOnce, Kind: AllowOnce, Own: true}, {ID: AllowAlways, Kind: AllowAlways, Own: true},
	{ID: RejectOnce, Kind: RejectOnce, Own: true}, {ID: RejectAlways, Kind: RejectAlways, Own: true},
}

// offered returns the options that a person chooses from, with labels that say what they do here. What an
// "always" of the agent covers and for how long is known to the agent alone. Beside it is an "always" of
// this program, if this program can remember the decision and answer with an option for one time.
func (d *decision) offered() []Option {
	options := slices.Clone(d.q.Options)
	if d.q.Claimed && len(d.keys) > 0 {
		if d.whole {
			options = withOwn(options, AllowAlways, d.q.only(AllowOnce))
		}
		options = withOwn(options, RejectAlways, d.q.only(RejectOnce))
	}
	kept := d.what() + " in this session"
	if d.scope.policy.opts.Memory != nil {
		kept = d.what() + " in all sessions of this folder"
	}
	for i := range options {
		o := &options[i]
		switch {
		case o.Kind == AllowOnce:
			o.Label = "Allow once"
		case o.Kind == RejectOnce:
			o.Label = "Reject"
		case o.Kind == AllowAlways && o.Own:
			o.Label = "Always allow " + kept
		case o.Kind == RejectAlways && o.Own:
			o.Label = "Always reject " + kept
		case o.Kind == AllowAlways:
			o.Label = "Always allow" + o.asTheAgentDecides()
		case o.Kind == RejectAlways:
			o.Label = "Always reject" + o.asTheAgentDecides()
		default:
			o.Label = "Something that only the agent knows; it allows nothing here"
		}
	}
	return options
}

// withOwn adds the option of this program for an "always" decision of that kind behind those of the agent. once
// is the id of the option that answers the agent; if it is empty, nothing is added.
func withOwn(options []Option, kind, once string) []Option {
	if once == "" {
		return options
	}
	id := "own " + kind
	for slices.ContainsFunc(options, func(o Option) bool { return o.ID == id }) {
		id += "'"
	}
	return append(options, Option{ID: id, Kind: kind, Own: true})
}

// longestName is the number of bytes of the agent's name of an option in a label.
const longestName = 100

func (o *Option) asTheAgentDecides() string {
	const decides = ", as far as this agent decides"
	if o.Name == "" {
		return decides
	}
	return decides + `: "` + strings.ReplaceAll(safetext.OneLine(o.Name, longestName), `"`, `\"`) + `"`
}
