package view

import "github.com/acpkit/go-sdk/cmd/acp/internal/recording"

// plot is the traffic over time, in equal parts of the recording.
type plot struct {
	Client  []int   `json:"client"` // messages
	Agent   []int   `json:"agent"`
	Faults  []int   `json:"faults"`
	Stderr  []int   `json:"stderr"`  // lines
	Crashed []bool  `json:"crashed"` // the agent, or the recording was cut
	Latency []int64 `json:"latency"` // the longest, in microseconds
}

// plotParts is how many parts a plot has.
const plotParts = 240

// plot returns the traffic of a session.
func (r *Recording) plot(of *session) plot {
	p := plot{
		Client: make([]int, plotParts), Agent: make([]int, plotParts), Faults: make([]int, plotParts),
		Stderr: make([]int, plotParts), Crashed: make([]bool, plotParts), Latency: make([]int64, plotParts),
	}
	for _, pos := range of.positions {
		e := &r.entries[pos]
		part := int(e.At * plotParts / (r.length + 1))
		switch {
		case e.Kind == recording.Stderr:
			p.Stderr[part]++
		case e.Kind == recording.Exit, e.Kind == recording.Cut:
			p.Crashed[part] = p.Crashed[part] || e.Failed
		case e.Dir == recording.Client:
			p.Client[part]++
		default:
			p.Agent[part]++
		}
		p.Faults[part] += len(e.Faults)
		if e.Latency != nil {
			p.Latency[part] = max(p.Latency[part], *e.Latency)
		}
	}
	return p
}
