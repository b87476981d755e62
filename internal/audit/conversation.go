package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"optratio/mechanisms"
	"optratio/verify"
)

// Conversation is a program that states its probabilities, asked one question after another. It is not safe for concurrent use.
type Conversation struct{ asker *asker }

// Ask begins a conversation about score vectors. Of the options it takes Epsilon, Sensitivity, Neighbors and Precision. Close ends the program.
func (p Program) Ask(o Options) (*Conversation, error) {
	o, err := p.checked(o)
	if err != nil {
		return nil, err
	}
	return &Conversation{newAsker(context.Background(), nil, &o)}, nil
}

// Answer returns the probabilities at some scores. An error wraps mechanisms.ErrAnswer where there was no answer, none that is a probability
// distribution, or another one than before.
func (c *Conversation) Answer(ctx context.Context, scores []*big.Rat) ([]*verify.Value, error) {
	a := c.asker
	unit := verify.Unit([][]*big.Rat{scores, {a.opts.Sensitivity}})
	a.space, a.questions, a.numbers = &verify.Space{Unit: unit}, 0, 0
	q, err := a.space.Vector(scores)
	if err != nil {
		return nil, err
	}
	place := fmt.Sprintf("at the scores %s: ", verify.ScoresText(scores))
	p, err := c.put(ctx, q, "", place)
	if err != nil {
		return nil, err
	}
	return p, c.changed()
}

// put asks about a vector, and says where that was in errors.
func (c *Conversation) put(ctx context.Context, q verify.Vector, unsure, failed string) ([]*verify.Value, error) {
	c.asker.ctx = ctx
	answer, err := probabilities{c.asker}.Answer(q)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, verify.ErrUndecided):
		return nil, fmt.Errorf("%w: %s%w", mechanisms.ErrAnswer, unsure, err)
	case err != nil:
		return nil, err
	case answer.Event != "":
		return nil, fmt.Errorf("%w: %s%s", mechanisms.ErrAnswer, failed, answer.Event)
	}
	return answer.P, nil
}

// changed returns an error once an answer of the program has changed.
func (c *Conversation) changed() error {
	for _, f := range c.asker.record.changed {
		return fmt.Errorf("%w: %s", mechanisms.ErrAnswer, f)
	}
	return nil
}

// Again asks some of the questions again, in another order, to be called last. The error wraps mechanisms.ErrAnswer where an answer changed.
func (c *Conversation) Again(ctx context.Context) error {
	c.asker.ctx = ctx
	if err := c.asker.again(&Report{}); err != nil {
		return err
	}
	return c.changed()
}

// Close ends the program.
func (c *Conversation) Close() { c.asker.child.stop() }

// Rows asks a program that states the probabilities of labels about each of some inputs, some of them twice. Of the options it takes Epsilon,
// Sensitivity, Precision and Progress. The error wraps mechanisms.ErrAnswer where the program did anything that audits call a finding.
func (p Program) Rows(ctx context.Context, values []json.RawMessage, o Options) ([]Row, error) {
	o, err := p.checked(o)
	if err != nil {
		return nil, err
	}
	o.Inputs, o.Outcomes = &Inputs{Values: values}, Labels
	space, dom, err := o.domain(0)
	if err == nil {
		err = o.measure(ctx, dom)
	}
	if err != nil {
		return nil, err
	}
	a := newAsker(ctx, space, &o)
	c := &Conversation{a}
	defer c.Close()
	rows := make([]Row, len(values))
	for i, value := range values {
		rows[i].Input = value
		place := "input " + verify.InputText(value) + ": "
		if rows[i].PMF, err = c.put(ctx, verify.Vector{int64(i)}, place, place); err != nil {
			return nil, err
		}
	}
	if err := c.Again(ctx); err != nil {
		return nil, err
	}
	a.finish()
	for _, f := range a.findings {
		return nil, fmt.Errorf("%w: %s", mechanisms.ErrAnswer, f)
	}
	if a.record.unasked != "" {
		return nil, cmp.Or(context.Cause(ctx), fmt.Errorf("%w: not asked again: %s", mechanisms.ErrAnswer, a.record.unasked))
	}
	for i := range rows {
		rows[i].Labels = a.labels.names
	}
	return rows, nil
}
