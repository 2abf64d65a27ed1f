package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acptest"
)

// page is where each check is described, under its id in lower case.
const page = "https://github.com/acpkit/go-sdk/blob/main/docs/checks.md#"

func (o *checkOptions) print(report *acptest.Report) error {
	switch {
	case o.json:
		return o.printJSON(os.Stdout, report)
	case o.junit:
		return o.printJUnit(os.Stdout, report)
	}
	return o.printText(os.Stdout, report)
}

// alone returns the command that runs one check.
func (o *checkOptions) alone(id string) string {
	args := []string{"acp", "check", o.args[0], "-only", id}
	for i := 1; i < len(o.args); i++ {
		if o.args[i] == "-only" || o.args[i] == "--only" {
			i++
			continue
		}
		if strings.HasPrefix(strings.TrimLeft(o.args[i], "-"), "only=") {
			continue
		}
		args = append(args, quoteArg(o.args[i]))
	}
	return strings.Join(args, " ")
}

// quoteArg quotes an argument for a shell, if that is needed.
func quoteArg(arg string) string {
	if arg != "" && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

func counts(report *acptest.Report) map[acptest.Verdict]int {
	n := map[acptest.Verdict]int{}
	for _, r := range report.Results {
		n[r.Verdict]++
	}
	return n
}

func (o *checkOptions) printText(w io.Writer, report *acptest.Report) error {
	var b strings.Builder
	var reasons []string
	same := map[string][]string{}    // ids of inconclusive checks by their reason
	ends := map[string]acptest.End{} // of the peer in the first of them
	for _, r := range report.Results {
		if r.Verdict == acptest.Inconclusive {
			if same[r.Reason] == nil {
				reasons = append(reasons, r.Reason)
				ends[r.Reason] = r.End
			}
			same[r.Reason] = append(same[r.Reason], r.ID)
		}
	}
	for _, reason := range reasons {
		fmt.Fprintf(&b, "\nINCONCLUSIVE %s\n  %-8s %s", strings.Join(same[reason], " "), "because", reason)
		if end := ends[reason]; end.Exit != "" {
			b.WriteString(end.String())
		}
		b.WriteString("\n")
	}
	for _, r := range report.Results {
		if r.Verdict == acptest.Fail {
			fmt.Fprintf(&b, "\n%s\n  %-8s %s%s\n  %-8s %s\n", r, "check", page, strings.ToLower(r.ID), "alone", o.alone(r.ID))
		}
	}
	n := counts(report)
	peer := strings.TrimSpace(report.Role + " " + report.Peer)
	if report.Version != 0 {
		peer += fmt.Sprintf(", version %d of the protocol", report.Version)
	}
	fmt.Fprintf(&b, "\n%s: %d pass, %d fail, %d skipped, %d inconclusive\n", peer, n[acptest.Pass], n[acptest.Fail], n[acptest.Skip], n[acptest.Inconclusive])
	if report.Version == 2 && o.protocol == "newest" {
		b.WriteString("Version 1, which most programs speak, was not checked: -protocol 1 does so.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The forms of JSON reports, which docs/checks.md describes. A change that breaks readers raises
// reportVersion.
const reportVersion = 1

type jsonReport struct {
	Version  int          `json:"version"`
	Role     string       `json:"role"`
	Peer     string       `json:"peer"`
	Blocked  string       `json:"blocked,omitempty"`
	Protocol int          `json:"protocol"`
	Results  []jsonResult `json:"results"`
}

type jsonResult struct {
	acptest.Result
	Link    string `json:"link"`
	Command string `json:"command"`
	Millis  int64  `json:"milliseconds"`
}

func (o *checkOptions) printJSON(w io.Writer, report *acptest.Report) error {
	out := jsonReport{reportVersion, report.Role, report.Peer, report.Blocked, report.Version, []jsonResult{}}
	for _, r := range report.Results {
		out.Results = append(out.Results, jsonResult{r, page + strings.ToLower(r.ID), o.alone(r.ID), r.Took.Milliseconds()})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"` // inconclusive checks, with -strict
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Seconds float64    `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Error   *junitText `xml:"error"`
	Skipped *junitText `xml:"skipped"`
}

type junitText struct {
	Type    string `xml:"type,attr"` // the verdict
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (o *checkOptions) printJUnit(w io.Writer, report *acptest.Report) error {
	n := counts(report)
	suite := junitSuite{Name: strings.TrimSpace("acp check " + report.Role + " " + report.Peer), Tests: len(report.Results),
		Failures: n[acptest.Fail], Skipped: n[acptest.Skip] + n[acptest.Inconclusive]}
	if o.strict {
		suite.Errors, suite.Skipped = n[acptest.Inconclusive], n[acptest.Skip]
	}
	for _, r := range report.Results {
		c := junitCase{Class: "acp." + report.Role + "." + string(r.Tier), Name: r.ID, Seconds: float64(r.Took) / float64(time.Second)}
		text := &junitText{string(r.Verdict), r.Reason, r.String() + "\n" + o.alone(r.ID)}
		switch {
		case r.Verdict == acptest.Fail:
			c.Failure = text
		case r.Verdict == acptest.Inconclusive && o.strict:
			c.Error = text
		case r.Verdict != acptest.Pass:
			c.Skipped = text
		}
		suite.Cases = append(suite.Cases, c)
	}
	b, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}
