package cli

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/audit"
	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/inquiry"
	"optratio/internal/job"
	"optratio/internal/report"
	"optratio/verify"
)

// What --format takes.
const (
	formatText     = "text"
	formatMarkdown = "markdown"
	formatGitHub   = "github"
)

// summaryVariable is the environment variable in which GitHub Actions names the file that is shown on the page of a run, as Markdown.
const summaryVariable = "GITHUB_STEP_SUMMARY"

// judge prepares a command whose answer is verdicts.
func (a *asking) judge(c *cobra.Command) {
	format := formatText
	verdicts := func(found *job.Answer) []report.Verdicts { return report.VerdictsOf(found, a.question) }
	a.certifies, a.draws = true, true
	if a.machines {
		c.Flags().StringVar(&format, "format", formatText, "text, markdown, or github: text with annotations for GitHub Actions, and a table on the page of the run")
		a.outputs = []*output{{
			flag: "junit", usage: "also write the verdicts to this file, as JUnit XML with one test case per property",
			write: func(found *job.Answer) func(io.Writer) error {
				return func(w io.Writer) error { return writeJUnit(a.Short(w), verdicts(found)) }
			},
		}}
	}
	a.begin = func() error {
		switch {
		case !slices.Contains([]string{formatText, formatMarkdown, formatGitHub}, format):
			return command.Usagef("--format: %s is not one of text, markdown and github", escape.Quoted(format))
		case a.JSON && format != formatText:
			return command.Usagef("--format: is for text, and --json prints one JSON document; leave one of the two out")
		}
		return nil
	}
	a.print = func(w io.Writer, found *job.Answer) {
		if format == formatMarkdown {
			printMarkdown(w, verdicts(found))
			return
		}
		if format == formatGitHub {
			printAnnotations(w, verdicts(found))
		}
		report.New(found, report.Context{Terminal: true, Question: a.question}).WriteText(w)
	}
	a.end = func(found *job.Answer) error {
		summary := os.Getenv(summaryVariable)
		if format != formatGitHub || summary == "" {
			return nil
		}
		var text strings.Builder
		printMarkdown(a.Short(&text), verdicts(found))
		if err := appendText(summary, text.String()); err != nil {
			return command.Usagef("%s: %w", summaryVariable, err)
		}
		return nil
	}
}

func appendText(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// printMarkdown prints a heading, a table of verdicts, the witnesses and the notes of each report.
func printMarkdown(w io.Writer, all []report.Verdicts) {
	for i, v := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		printSection(w, v)
	}
}

func printSection(w io.Writer, v report.Verdicts) {
	fmt.Fprintf(w, "### %s\n\n| property | verdict | checked | |\n|---|---|---:|---|\n", escape.Markdown(v.Title))
	shown := false
	properties, asked := v.Sorted()
	for i, r := range properties {
		word := inquiry.Word(r.Fact, string(r.Verdict))
		if r.Verdict != verify.Proved && !r.Fact {
			word = "**" + word + "**"
		}
		fmt.Fprintf(w, "| %s | %s | %d | %s |\n", r.Name, word+job.Choose(i < asked, "", ", not asked for"), r.Checked, escape.Markdown(r.Remark()))
		shown = shown || r.Witness != nil
	}
	fmt.Fprintln(w)
	if profile := v.Profiled(); profile != nil {
		for i, row := range profile.Texts(strings.Clone) {
			fmt.Fprintf(w, "| %s |\n%s", strings.Join(row, " | "), job.Choose(i == 0, "|---|---|---|---|\n", ""))
		}
		fmt.Fprintln(w)
	}
	for _, r := range v.Properties {
		if r.Witness != nil {
			fmt.Fprintf(w, "- %s\n", escape.Markdown(report.WitnessLine(&r)))
		}
	}
	for _, note := range v.Notes() {
		fmt.Fprintf(w, "- %s\n", escape.Markdown(note))
	}
	if shown {
		fmt.Fprintf(w, "\n%s\n", escape.Markdown(v.Units))
	}
}

// printAnnotations prints an annotation of GitHub Actions for each property that was asked about and is not proved: an error where it is violated, a
// warning where it is undecided, and a notice where samples leave it undecided.
func printAnnotations(w io.Writer, all []report.Verdicts) {
	for _, v := range all {
		for _, r := range v.Properties {
			level := job.Choose(v.Sampler, "notice", "warning")
			switch {
			case r.Fact || r.Verdict == verify.Proved:
				continue
			case r.Verdict == verify.Violated:
				level = "error"
			}
			text := cmp.Or(r.Remark(), string(r.Verdict))
			if r.Witness != nil {
				text = report.WitnessLine(&r)
			}
			fmt.Fprintf(w, "::%s title=%s::%s\n", level, escape.Property(string(r.Name)+" of "+v.Short), escape.Message(text))
		}
	}
}

// junitSuites is the root of a JUnit document. It has a suite for each report, with a test case for each property: failed where the property is violated,
// skipped where it is undecided.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
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

func writeJUnit(w io.Writer, all []report.Verdicts) error {
	var root junitSuites
	for _, v := range all {
		root.Suites = append(root.Suites, suiteOf(v))
	}
	text, err := xml.MarshalIndent(root, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text) // at once: a writer that shortens numbers must see them whole
	}
	return err
}

func suiteOf(v report.Verdicts) junitSuite {
	suite := junitSuite{Name: escape.Line(v.Title), Tests: len(v.Properties)}
	for _, p := range v.Properties {
		c := junitCase{Class: escape.Line(v.Mechanism), Name: string(p.Name)}
		text := p.String()
		if p.Name == audit.Answers {
			for _, f := range v.Findings {
				text += "\n  " + escape.Line(f.String())
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
			c.Failure = &junitNote{escape.Line(message), string(p.Verdict), text}
			suite.Failures++
		case p.Verdict == verify.Undecided:
			c.Skipped = &junitNote{Message: escape.Line(strings.TrimSuffix("undecided: "+p.Remark(), ": "))}
			suite.Skipped++
		default:
			c.Out = text
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}
