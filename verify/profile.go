package verify

import (
	"math/big"

	"optratio/internal/inquiry"
	"optratio/number"
)

// quarters are the ε' of a profile, in quarters of ε.
var quarters = []int64{0, 1, 2, 3, 4, 5, 6, 8}

// profileOrders are the orders of its Rényi divergences, as properties name them.
var profileOrders = []Property{"rdp:1.5", "rdp:2", "rdp:4", "rdp:8", "rdp:16", "rdp:32", "rdp:64", "rdp:inf"}

// profiled returns the orders of a profile: those that are asked for as properties, if any.
func (c *run) profiled() (orders []Property) {
	for _, p := range c.opts.Properties {
		if _, ok := inquiry.Order(p); ok {
			orders = append(orders, p)
		}
	}
	if orders == nil {
		return profileOrders
	}
	return orders
}

// power returns e^{ε·quarters/4}, exactly for whole powers.
func (c *run) power(quarters int64) *inquiry.Value {
	if quarters%4 != 0 {
		return raised(c.claim, big.NewRat(quarters, 4), new(big.Rat))
	}
	x := inquiry.One
	for range quarters / 4 {
		x = x.Mul(c.claim)
	}
	return x
}

// profile finds, over all pairs, the least δ at which they are (ε',δ)-private, for some ε', and the Rényi divergences of some orders.
func (c *run) profile(report *Report) error {
	quiet := *c
	quiet.opts.Targets = nil
	var orders, sticks []*divergence
	for _, p := range c.profiled() {
		alpha, _ := inquiry.Order(p)
		orders = append(orders, quiet.ofOrder(p, alpha))
	}
	limits := make([]*inquiry.Value, len(quarters))
	for i, quarter := range quarters {
		d := quiet.beyond()
		d.bits, limits[i] = renyiBits, c.power(quarter)
		sticks = append(sticks, d)
	}
	_, err := quiet.over(func(pair direction) error {
		for i, d := range sticks {
			if err := d.stick(pair, limits[i]); err != nil {
				return err
			}
		}
		return quiet.diverge(pair, orders)
	}, append(sticks, orders...)...)
	if err != nil {
		return err
	}
	for i, d := range sticks {
		eps := c.dom.Space.Epsilon.Number().Mul(number.Exact(big.NewRat(quarters[i], 4)))
		report.Profile = append(report.Profile, [2]number.Number{eps, d.known().Min(number.Int(1))})
	}
	for _, d := range orders {
		report.Renyi = append(report.Renyi, [2]number.Number{orderNumber(d.alpha), d.known()})
	}
	return nil
}
