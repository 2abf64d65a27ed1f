// Package growth measures how the cost of the agent kit grows with the size of what is stored, as CPU
// time of this process. Curve by curve it prints the costs, the exponent, and the bar that the curve
// must keep.
package growth

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A curve is one cost as a function of a size.
type curve struct {
	name  string
	sizes []int

	// exponent is the greatest one that is allowed, and most the greatest cost at the largest size. Zero
	// means that there is no such bar.
	exponent float64
	most     time.Duration

	// cost returns the CPU time for a size in seconds. The folder dir is empty.
	cost func(ctx context.Context, dir string, n int) (float64, error)
}

// rounds is the number of measurements of each point, of which the least counts.
const rounds = 3

// Run measures all curves and writes a table. With quick the sizes are small. It returns an error that
// names the curves that are beyond their bars.
func Run(ctx context.Context, w io.Writer, quick bool) error {
	var beyond []string
	fmt.Fprintf(w, "| curve | CPU time by size | exponent | bar |\n|---|---|---|---|\n")
	for _, c := range slices.Concat(stored(), requests(), sessions()) {
		sizes := c.sizes
		if quick {
			sizes = slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > max(500, c.sizes[0]) })
		}
		costs := make([]float64, len(sizes))
		text := ""
		for i, n := range sizes {
			var err error
			if costs[i], err = c.least(ctx, n); err != nil {
				return fmt.Errorf("%s, size %d: %w", c.name, n, err)
			}
			text += fmt.Sprintf("%d: %v, ", n, seconds(costs[i]))
		}
		exponent, bar, ok := slope(sizes, costs), "", true // the exponent is NaN for a single size
		if c.exponent > 0 {
			bar = fmt.Sprintf("exponent %.2f", c.exponent)
			ok = exponent <= c.exponent
		}
		if last := costs[len(costs)-1]; c.most > 0 {
			bar += fmt.Sprintf(" at most %v", c.most)
			ok = ok && seconds(last) <= c.most
		}
		if !ok {
			bar += " BEYOND"
			beyond = append(beyond, c.name)
		}
		fmt.Fprintf(w, "| %s | %s | %.2f | %s |\n", c.name, text[:len(text)-2], exponent, bar)
	}
	if len(beyond) > 0 && !quick {
		return fmt.Errorf("beyond their bars: %q", beyond)
	}
	return nil
}

func seconds(s float64) time.Duration {
	return time.Duration(s * 1e9).Round(time.Microsecond)
}

// least returns the least cost of the rounds.
func (c *curve) least(ctx context.Context, n int) (float64, error) {
	best := math.Inf(1)
	for range rounds {
		dir, err := os.MkdirTemp("", "acpkit-growth-")
		if err != nil {
			return 0, err
		}
		cost, err := c.cost(ctx, dir, n)
		if removeErr := os.RemoveAll(dir); err == nil {
			err = removeErr
		}
		if err = firstOf(ctx.Err(), err); err != nil {
			return 0, err
		}
		if best = min(best, cost); best > 5 { // long enough to be exact
			break
		}
	}
	return best, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// spent returns the CPU time that f needs, in seconds.
func spent(f func() error) (float64, error) {
	runtime.GC()
	before := work.CPU()
	err := f()
	return work.CPU() - before, err
}

// slope returns the exponent of a power of the size that fits the costs best. Costs below a tenth of a
// millisecond are that: they are too small to be measured.
func slope(sizes []int, costs []float64) float64 {
	var sx, sy, sxx, sxy, n float64
	for i, size := range sizes {
		x, y := math.Log(float64(size)), math.Log(max(costs[i], 1e-4))
		sx, sy, sxx, sxy, n = sx+x, sy+y, sxx+x*x, sxy+x*y, n+1
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

func logOf(dir, id string) string { return filepath.Join(dir, id, "log.jsonl") }
