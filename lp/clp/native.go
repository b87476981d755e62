//go:build clp

package clp

/*
#cgo pkg-config: clp
#include <stdlib.h>
#include <Clp_C_Interface.h>

// A handle spares the Go side a name for the type of the model, which is an
// incomplete struct in some releases of CLP and void in others.
typedef struct {
	Clp_Simplex *model;
} handle;

// setBasis hands over the statuses of the columns and then of the rows; for a
// variable at a bound CLP moves its value there too.
static void setBasis(Clp_Simplex *model, int cols, int rows, const unsigned char *status) {
	for (int j = 0; j < cols; j++)
		Clp_setColumnStatus(model, j, status[j]);
	for (int i = 0; i < rows; i++)
		Clp_setRowStatus(model, i, status[cols + i]);
}

static void getBasis(Clp_Simplex *model, int cols, int rows, unsigned char *status) {
	for (int j = 0; j < cols; j++)
		status[j] = (unsigned char)Clp_getColumnStatus(model, j);
	for (int i = 0; i < rows; i++)
		status[cols + i] = (unsigned char)Clp_getRowStatus(model, i);
}
*/
import "C"

import (
	"math"
	"unsafe"
)

// CLP's variable statuses. A row's variable is its activity, as in
// linear.Basis: atUpper is a row whose activity stands at its upper bound.
const (
	isFree     = 0
	isBasic    = 1
	atUpper    = 2
	atLower    = 3
	superBasic = 4
	isFixed    = 5
)

// What a run of CLP ends with (Clp_status).
const (
	statusOptimal    = 0
	statusInfeasible = 1
	statusUnbounded  = 2
	statusStopped    = 3
)

// native owns one CLP model. C memory only: CLP keeps no Go pointer, every
// array is copied on its way in and out.
type native struct {
	c          C.handle
	rows, cols int
}

// newNative loads a scaled program. The caller must close it.
func newNative(p *scaled) *native {
	n := &native{rows: len(p.rowLower), cols: len(p.cost)}
	n.c.model = C.Clp_newModel()
	C.Clp_setLogLevel(n.c.model, 0) // silence; callbacks would need level 1, which prints
	start := make([]C.CoinBigIndex, len(p.start))
	for j, s := range p.start {
		start[j] = C.CoinBigIndex(s)
	}
	C.Clp_loadProblem(n.c.model, C.int(n.cols), C.int(n.rows),
		unsafe.SliceData(start), (*C.int)(unsafe.SliceData(p.index)), doubles(p.value),
		doubles(p.colLower), doubles(p.colUpper), doubles(p.cost),
		doubles(p.rowLower), doubles(p.rowUpper))
	return n
}

// doubles passes a slice for the duration of a call. C has no use for an
// empty array, but some of CLP's defaults hang on the pointer being nil.
func doubles(s []float64) *C.double {
	if len(s) == 0 {
		s = []float64{0}
	}
	return (*C.double)(unsafe.SliceData(s))
}

func (n *native) close() {
	if n.c.model != nil {
		C.Clp_deleteModel(n.c.model)
		n.c.model = nil
	}
}

// setTolerances sets the primal and the dual feasibility tolerance.
func (n *native) setTolerances(primal, dual float64) {
	C.Clp_setPrimalTolerance(n.c.model, C.double(primal))
	C.Clp_setDualTolerance(n.c.model, C.double(dual))
}

// CLP's own scaling of rows and columns, and its perturbation of costs and bounds.
const (
	scalingOff       = 0
	scalingGeometric = 2
	perturbNever     = 102
)

func (n *native) setScaling(mode int)      { C.Clp_scaling(n.c.model, C.int(mode)) }
func (n *native) setPerturbation(mode int) { C.Clp_setPerturbation(n.c.model, C.int(mode)) }

// setLimit allows so many pivots to the next run and takes back a stop.
func (n *native) setLimit(pivots int) {
	C.Clp_setMaximumSeconds(n.c.model, -1)
	C.Clp_setMaximumIterations(n.c.model, C.int(min(pivots, math.MaxInt32)))
}

// stop makes a run that is under way end at its next pivot. It is called from
// another thread than the run: it writes one aligned word each, which CLP
// reads before every pivot. CLP saves and restores the pivot limit in places,
// so the caller repeats the stop until the run has ended.
func (n *native) stop() {
	C.Clp_setMaximumSeconds(n.c.model, 0)
	C.Clp_setMaximumIterations(n.c.model, 0)
}

// primal and dual run the simplex method from the current basis.
func (n *native) primal() { C.Clp_primal(n.c.model, 0) }
func (n *native) dual()   { C.Clp_dual(n.c.model, 0) }

// The counters may be read while a run is under way.
func (n *native) status() int        { return int(C.Clp_status(n.c.model)) }
func (n *native) pivots() int        { return int(C.Clp_numberIterations(n.c.model)) }
func (n *native) objective() float64 { return float64(C.Clp_objectiveValue(n.c.model)) }
func (n *native) primalInfeasible() float64 {
	return float64(C.Clp_sumPrimalInfeasibilities(n.c.model))
}
func (n *native) dualInfeasible() float64 { return float64(C.Clp_sumDualInfeasibilities(n.c.model)) }

// setStatuses hands over CLP statuses, columns first.
func (n *native) setStatuses(status []uint8) {
	if len(status) > 0 {
		C.setBasis(n.c.model, C.int(n.cols), C.int(n.rows), (*C.uchar)(unsafe.SliceData(status)))
	}
}

// statuses returns the CLP statuses, columns first.
func (n *native) statuses() []uint8 {
	status := make([]uint8, n.cols+n.rows)
	if len(status) > 0 {
		C.getBasis(n.c.model, C.int(n.cols), C.int(n.rows), (*C.uchar)(unsafe.SliceData(status)))
	}
	return status
}

// solution returns copies of the column values and the row duals.
func (n *native) solution() (x, y []float64) {
	return copied(C.Clp_primalColumnSolution(n.c.model), n.cols), copied(C.Clp_dualRowSolution(n.c.model), n.rows)
}

func copied(p *C.double, n int) []float64 {
	s := make([]float64, n)
	if p != nil {
		copy(s, unsafe.Slice((*float64)(p), n))
	}
	return s
}
