package cli

import (
	"context"
	"fmt"
	"io"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/number"
)

// runList does the job for several ε, and prints one table, or one JSON array.
func (f *ratioFlags) runList(ctx context.Context, list []string) error {
	if f.cert != "" {
		return command.Usagef("--cert: a certificate is about one ε, give one")
	}
	to, name := &f.epsilon.Eps, "ε"
	if f.epsilon.Exp != "" {
		to, name = &f.epsilon.Exp, "e^ε"
	}
	for _, *to = range list {
		if _, err := f.epsilon.Parse(); err != nil {
			return err
		}
	}
	var docs []*document.Ratio
	var end error
	for _, *to = range list {
		if ctx.Err() != nil {
			break
		}
		doc, _, err := f.answer(ctx, func(number.Epsilon) error { return nil })
		if err != nil {
			return err
		}
		docs = append(docs, doc)
		if err := ratioEnding(ctx, doc); err != nil && end == nil {
			end = err
		}
	}
	command.ShowAll(&f.Job, docs, func(w io.Writer) { f.printList(w, name, list, docs) })
	if end == nil && len(docs) < len(list) {
		end = command.Ending(ctx, fmt.Sprintf("%d of %d ε were answered", len(docs), len(list)))
	}
	return end
}

// printList writes the table for people, a line for each ε and mechanism.
func (f *ratioFlags) printList(w io.Writer, name string, list []string, docs []*document.Ratio) {
	if len(docs) == 0 {
		return
	}
	unit := command.Choose(f.question.loss == "mean", fmt.Sprintf("error (steps of %s)", command.Choose(f.question.monotonic, "Δ", "2Δ")), "loss")
	fmt.Fprintf(w, "n = %d, k = %d, objective %s, constraints %s%s\n\n", f.n, f.k, f.objective, command.Explained(f.question.level(f.constraints)), f.question.text())
	t := command.Table(w, 3)
	fmt.Fprintf(t, "%s\tmechanism\t%s\toptimum\tratio to the optimum\tproof\n", name, unit)
	for i, d := range docs {
		for _, m := range d.Mechanisms {
			if m.Finding != "" {
				fmt.Fprintf(t, "%s\t%s\tnot rated\t%s\t\t%s\n", list[i], m.Name, d.Optimum, d.Proof)
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", list[i], m.Name, m.Error, d.Optimum, m.Ratio, d.Proof)
		}
	}
	t.Flush()
}
