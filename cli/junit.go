package cli

import (
	"cmp"
	"context"
	"encoding/xml"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/verify"
	"optratio/verify/audit"
)

// junitFlag is --junit, a file of verdicts in the XML format that continuous-integration servers read.
type junitFlag struct {
	path string
	file *command.OutputFile
}

func (f *junitFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "junit", "", "also write the verdicts to this file, as JUnit XML with a test case for each property")
}

// create looks whether the file can be written, before any work is done.
func (f *junitFlag) create() (err error) {
	if f.path != "" {
		f.file, err = command.CreateOutput("--junit", f.path)
	}
	return err
}

// write fills the file, where one is wanted. title says what was examined.
func (f *junitFlag) write(ctx context.Context, title string, report *verify.Report, findings []audit.Finding) error {
	return f.file.Commit(ctx, func(w io.Writer) error { return writeJUnit(w, title, report, findings) })
}

// junitSuites is the root of a JUnit document. It has one suite, with a test case for each property: failed where the property is violated,
// skipped where it is undecided.
type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Failure *junitNote `xml:"failure,omitempty"`
	Skipped *junitNote `xml:"skipped,omitempty"`
	Out     string     `xml:"system-out,omitempty"`
}

// junitNote is what a failure or a skipped case says: Message in one line, Text in full.
type junitNote struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func writeJUnit(w io.Writer, title string, report *verify.Report, findings []audit.Finding) error {
	suite := junitSuite{Name: title, Tests: len(report.Properties)}
	for _, p := range report.Properties {
		c := junitCase{Class: report.Mechanism, Name: string(p.Name)}
		text := p.String()
		if p.Name == audit.Answers {
			for _, f := range findings {
				text += "\n  " + f.String()
			}
		}
		switch {
		case p.Fact: // passes, whatever it is
			c.Out = text
		case p.Verdict == verify.Violated:
			message := cmp.Or(p.Remark(), string(p.Verdict))
			if p.Witness != nil {
				message = "fails at " + p.Witness.String()
			}
			c.Failure = &junitNote{message, string(p.Verdict), text}
			suite.Failures++
		case p.Verdict == verify.Undecided:
			c.Skipped = &junitNote{Message: strings.TrimSuffix("undecided: "+p.Remark(), ": ")}
			suite.Skipped++
		default:
			c.Out = text
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
