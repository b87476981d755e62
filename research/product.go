package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/lattice"
	"optratio/lp"
	"optratio/number"
	"optratio/research/check"
	"optratio/research/product"
)

type productFlags struct {
	command.Job
	epsilon job.Epsilon
	n, k    int
	cert    string
}

// The largest n and k are those of the certificates.
const (
	mostProduct      = 1 << 14
	productPrecision = 256
)

func newProduct(s command.Streams) *cobra.Command {
	f := productFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "product -n N -k K (--eps E | --exp-eps A/B)",
		Short: "Proved lower bounds on permute-and-flip's ratio, on lattices of any size",
		Long: `A feasible point of the optimal-mechanism program, in product form, that has a smaller mean error than permute-and-flip: so the
optimum is no more, and the ratio no less than 1 by as much. optratio ratio --method lumped bounds the ratio from above. --cert writes a
certificate, which research check accepts.`,
		Example: "  research product -n 20 -k 10 --eps 0.5 --cert 20-10.cert",
		Args:    command.NoArgs,
		RunE:    f.Limited(f.run),
	}
	fs := c.Flags()
	command.CountVar(fs, &f.n, "n", "n", 0, "number of candidates")
	command.CountVar(fs, &f.k, "k", "k", 0, "greatest depth, in steps of 2Δ")
	command.AddFields(c, &f.epsilon, nil)
	fs.StringVar(&f.cert, "cert", "", "file for a certificate of the bound on the optimum")
	f.Job.Add(c)
	return c
}

// productDoc is the JSON document of a point.
type productDoc struct {
	N       int           `json:"n"`
	K       int           `json:"k"`
	Eps     *string       `json:"eps"`
	ExpEps  *string       `json:"exp_eps"`
	Error   number.Number `json:"error"`   // of permute-and-flip, in steps of 2Δ
	Optimum number.Number `json:"optimum"` // at most the point's error
	Ratio   number.Number `json:"ratio"`   // of the two
}

// Schema names the form of the JSON document.
func (productDoc) Schema() string { return "optratio.product/1" }

func (f *productFlags) run(ctx context.Context) error {
	eps, err := f.epsilon.Parse()
	if err != nil {
		return err
	}
	for name, x := range map[string]int{"-n": f.n, "-k": f.k} {
		if x < 1 || x > mostProduct {
			return command.Usagef("%s %d: give a number from 1 to %d", name, x, mostProduct)
		}
	}
	var file *command.OutputFile
	if f.cert != "" {
		if file, err = command.CreateCertificate(f.cert, eps); err != nil {
			return err
		}
	}
	report, done := command.Counter(f.Streams, "product")
	r, err := job.Await(ctx, job.Grace, func() (*product.Result, error) { return product.Bound(ctx, f.n, f.k, eps, productPrecision, report) })
	done()
	if err != nil {
		return err
	}
	all := number.Exact(new(big.Rat).SetInt(lattice.Vectors(f.n, f.k, false)))
	flip := lp.PermuteAndFlipTotal(f.n, f.k, eps, productPrecision)
	point := flip.Sub(r.Saving)
	most, _ := number.Enclosed(point).Quo(all).Upper()
	least := big.NewRat(1, 1)
	if len(r.Injections) > 0 {
		least, _ = number.Enclosed(flip.Quo(point)).Lower()
	}
	doc := productDoc{
		N: f.n, K: f.k, Eps: document.Optional(f.epsilon.Eps), ExpEps: document.Optional(f.epsilon.Exp),
		Error: number.Enclosed(flip).Quo(all), Optimum: number.Bounds(new(big.Rat), most), Ratio: number.Bounds(least, nil),
	}
	if file != nil {
		limit, err := f.Bytes()
		if err != nil {
			return err
		}
		if err := file.Commit(ctx, func(w io.Writer) error {
			var b bytes.Buffer
			if err := r.WriteCertificate(&b, f.n, f.k, eps, most); err != nil {
				return err
			}
			if err := command.Checker(check.Check).Accepts(context.WithoutCancel(ctx), b.Bytes(), limit); err != nil {
				return err
			}
			_, err := b.WriteTo(w)
			return err
		}); err != nil {
			return err
		}
	}
	f.Show(doc, func(w io.Writer) {
		fmt.Fprintf(w, "n = %d, k = %d: permute-and-flip's mean error is %s, and the optimum is at most %s\n", f.n, f.k, doc.Error, number.Exact(most))
		fmt.Fprintf(w, "so its ratio is at least %s\n", number.Exact(least))
	})
	return nil
}
