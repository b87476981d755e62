package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/serve"
	"optratio/internal/slowtest"
)

// served starts the serve command and returns the address that it prints.
func served(t *testing.T) string {
	ctx, cancel := context.WithCancelCause(context.Background())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	var errs bytes.Buffer
	go func() { ended <- Run(ctx, []string{"serve"}, strings.NewReader(""), write, &errs) }()
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel(command.ErrInterrupted)
		assert.Equal(t, command.Interrupted, <-ended)
		assert.Equal(t, "optratio: interrupted\n", errs.String())
	})
	require.Regexp(t, `^http://(127\.0\.0\.1|\[::1\]):\d+\n$`, line)
	return strings.TrimSpace(line)
}

func get(t *testing.T, address string) (int, string) {
	r, err := http.Get(address)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(body)
}

// TestServedNumbersAreTheCommands compares what every view shows with what the command that it names prints.
func TestServedNumbersAreTheCommands(t *testing.T) {
	at := served(t)
	code, page := get(t, at+"/rate?n=3&k=3&eps=3/2&of=exp-eps&mechanism=pf,geo")
	require.Equal(t, 200, code)
	_, out, _ := quietly(strings.Fields("ratio -n 3 -k 3 --exp-eps 3/2 --mechanism pf,geo --json")...)
	var ratio document.Ratio
	require.NoError(t, json.Unmarshal([]byte(out), &ratio))
	for _, m := range ratio.Mechanisms {
		assert.Contains(t, page, ">"+m.Ratio.String()+"</td>")
		assert.Contains(t, page, ">"+m.Error.String()+"</td>")
	}
	assert.Contains(t, page, "optratio ratio -n 3 -k 3 --exp-eps 3/2 --mechanism pf,geo<")
	assert.NotContains(t, page, "time-limit 1s")

	code, page = get(t, at+"/pmf?scores=0,-1,-3&eps=1&mechanism=pf,krr")
	require.Equal(t, 200, code)
	assert.Contains(t, page, "optratio pmf --mechanism pf,krr --scores=0,-1,-3 --eps 1")
	for _, name := range []string{"pf", "krr"} {
		line := "pmf --mechanism " + name + " --scores=0,-1,-3 --eps 1"
		_, out, _ := quietly(append(strings.Fields(line), "--json")...)
		var d struct{ PMF []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(out), &d))
		_, text, _ := quietly(strings.Fields(line)...)
		for _, cell := range strings.Fields(text) {
			if digits, ok := strings.CutSuffix(cell, "…"); ok {
				assert.Contains(t, page, digits)
			}
		}
	}

	r, err := http.PostForm(at+"/audit", url.Values{"pmf-file": {`{"scores":[0,0],"pmf":["1/2","1/2"]}` + "\r\n" + `{"scores":[1,0],"pmf":["9/10","1/10"]}`}, "eps": {"0.5"}})
	require.NoError(t, err)
	body, _ := io.ReadAll(r.Body)
	r.Body.Close()
	assert.Equal(t, 200, r.StatusCode)
	assert.Contains(t, string(body), "No: it is not 0.5-DP")
	assert.Contains(t, string(body), "table.jsonl")
	assert.NotContains(t, string(body), "/tmp/", "no file of the server shows")

	r, err = http.PostForm(at+"/evaluate", url.Values{"histogram": {"12\n7\n7\n3"}, "eps": {"1"}, "task": {"median"}})
	require.NoError(t, err)
	body, _ = io.ReadAll(r.Body)
	r.Body.Close()
	assert.Equal(t, 200, r.StatusCode)
	assert.Contains(t, string(body), "The exponential mechanism&#39;s expected error is ")
}

// TestServedOptimum: the page of a problem has the numbers of the command on the same file, and those of the user's table beside them.
func TestServedOptimum(t *testing.T) {
	at := served(t)
	post := func(values url.Values) (int, string) {
		r, err := http.PostForm(at+"/optimum", values)
		require.NoError(t, err)
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		assert.NotContains(t, string(body), "/tmp/", "no file of the server shows")
		return r.StatusCode, string(body)
	}
	table, err := os.ReadFile("../testdata/optimum/table.csv")
	require.NoError(t, err)
	problem, err := os.ReadFile("../testdata/optimum/problem.json")
	require.NoError(t, err)
	code, page := post(url.Values{"preset": {"count:2"}, "eps": {"3"}, "worst": {"true"}, "rate": {string(table)}})
	require.Equal(t, 200, code)
	_, out, _ := quietly(strings.Fields("optimum --preset count:2 --eps 3 --worst --rate ../testdata/optimum/table.csv --json")...)
	var d document.Optimum
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	for _, x := range append(append(slices.Concat(d.Mechanism...), d.Losses...), d.Rated.Losses...) {
		assert.Contains(t, page, ">"+x.String()+"</td>")
	}
	assert.Contains(t, page, "Your mechanism has "+d.Rated.Ratio.Format(6)+" times the least loss that is possible")
	assert.Contains(t, page, "optratio optimum --preset count:2 --eps 3 --worst --rate table.csv<")
	assert.Equal(t, 2*9, strings.Count(page, "fill-opacity"), "two heat maps")

	code, page = post(url.Values{"problem": {string(problem)}, "eps": {"4"}, "of": {"exp-eps"}, "delta": {"0"}})
	require.Equal(t, 200, code)
	assert.Contains(t, page, "The least mean loss that is possible is 13/32")
	assert.Contains(t, page, "optratio optimum problem.json --exp-eps 4<")
	code, page = post(url.Values{"preset": {"count:2"}, "eps": {"0.5"}, "rate": {string(table)}})
	require.Equal(t, 200, code)
	assert.Contains(t, page, "No: the mechanism is not private at ε = 0.5")
	assert.Contains(t, page, "4/7 at 0, and 1/5 at 1: outputs 0")
	code, page = post(url.Values{"preset": {"count:30"}, "eps": {"0.5"}})
	require.Equal(t, 200, code)
	assert.Contains(t, page, "Loss by input")
	for _, bad := range []url.Values{
		{"problem": {"{"}}, {"preset": {"count:61"}}, {"preset": {"cat:2"}}, {"preset": {"--help"}}, {"preset": {"grid:3"}}, {"problem": {string(problem)}, "delta": {"2"}}, {"problem": {string(problem)}, "delta": {"x"}},
		{"problem": {string(problem)}, "rate": {"a,b,c"}}, {"problem": {string(problem)}, "worst": {"x"}},
	} {
		code, page = post(bad)
		assert.Equal(t, 400, code, bad)
		assert.Contains(t, page, `role="alert"`)
	}
}

// TestServedStream reads what happens until a question is answered.
func TestServedStream(t *testing.T) {
	r, err := http.PostForm(served(t)+"/rate?part=1", url.Values{"n": {"4"}, "k": {"3"}, "eps": {"0.5"}})
	require.NoError(t, err)
	defer r.Body.Close()
	var kinds []string
	var last struct {
		Kind, Head, Text string
		More, Failed     bool
	}
	for d := json.NewDecoder(r.Body); d.Decode(&last) == nil; {
		kinds = append(kinds, last.Kind)
	}
	assert.Equal(t, "working answer working answer", strings.Join(kinds, " "), "the answer, and the same for other ε")
	assert.False(t, last.More || last.Failed)
	assert.Contains(t, last.Head, "times the least mean expected error possible")
	assert.Contains(t, last.Text, "The same for other ε")
}

// TestServedRefusals sends what must be refused.
func TestServedRefusals(t *testing.T) {
	at := served(t)
	port := at[strings.LastIndexByte(at, ':'):]
	ask := func(method, path, host, origin, body string) (int, string) {
		r, err := http.NewRequest(method, at+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Host = host
		if method == "POST" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		assert.NotContains(t, string(text), "internal error")
		return answer.StatusCode, string(text)
	}
	for _, c := range []struct {
		method, path, host, origin, body string
		code                             int
	}{
		{"GET", "/app.js", "localhost" + port, "", "", 200},
		{"GET", "/app.js", "127.0.0.1" + port, "http://localhost" + port, "", 200},
		{"GET", "/app.js", "evil.example" + port, "", "", 403},
		{"GET", "/app.js", "localhost:1", "", "", 403},
		{"GET", "/app.js", "", "", "", 200}, // the client fills in the address itself
		{"POST", "/audit", "localhost" + port, "http://evil.example", "pmf-file=x", 403},
		{"POST", "/audit", "localhost" + port, "null", "pmf-file=x", 403},
		{"POST", "/audit", "localhost" + port, "", "pmf-file=" + strings.Repeat("x", 2<<20), 413},
		{"POST", "/audit", "localhost" + port, "", "pmf-file=%zz", 400},
		{"POST", "/audit", "localhost" + port, "", "pmf-file=notjson&eps=1", 400},
		{"POST", "/evaluate", "localhost" + port, "", "histogram=a,b&eps=1", 400},
		{"POST", "/evaluate", "localhost" + port, "", "histogram=1&task=/etc/passwd", 400},
		{"GET", "/rate?n=1e9", "localhost" + port, "", "", 400},
		{"GET", "/rate?n=61", "localhost" + port, "", "", 400},
		{"GET", "/rate?eps=--cert", "localhost" + port, "", "", 400},
		{"GET", "/rate?eps=1/0", "localhost" + port, "", "", 400},
		{"GET", "/rate?mechanism=../../etc/passwd", "localhost" + port, "", "", 400},
		{"GET", "/pmf?scores=1,x", "localhost" + port, "", "", 400},
		{"GET", "/pmf?mechanism=nobody", "localhost" + port, "", "", 400},
		{"GET", "/etc/passwd", "localhost" + port, "", "", 404},
		{"GET", "/..%2f..%2fetc/passwd", "localhost" + port, "", "", 404},
		{"PUT", "/audit", "localhost" + port, "", "x", 405},
	} {
		code, text := ask(c.method, c.path, c.host, c.origin, c.body)
		assert.Equal(t, c.code, code, "%s %s %s: %.300s", c.method, c.path, c.host, text)
	}
	// What is no HTTP, and a header without end.
	for _, text := range []string{"nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: localhost" + port + "\r\nX: " + strings.Repeat("y", 1<<16) + "\r\n\r\n"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
		require.NoError(t, err)
		_, _ = c.Write([]byte(text))
		answer, _ := io.ReadAll(c)
		assert.Regexp(t, `^HTTP/1.1 4\d\d `, string(answer))
		c.Close()
	}
	code, _ := get(t, at+"/app.css")
	assert.Equal(t, 200, code, "it goes on")
}

// TestServedClients has sixty clients ask for small ratios at the same time.
func TestServedClients(t *testing.T) {
	at := served(t)
	var all sync.WaitGroup
	codes := make([]int, 60)
	for i := range codes {
		all.Add(1)
		go func() {
			defer all.Done()
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			r, err := client.Get(fmt.Sprintf("%s/rate?n=%d&k=%d&eps=0.%d", at, 2+i%4, 1+i%3, 1+i%7))
			if err != nil {
				return
			}
			defer r.Body.Close()
			if body, err := io.ReadAll(r.Body); err == nil && strings.Contains(string(body), `class="verdict good"`) {
				codes[i] = r.StatusCode
			}
		}()
	}
	all.Wait()
	for i, code := range codes {
		assert.Equal(t, 200, code, "client %d", i)
	}
}

// TestServedBusily has two hundred clients ask for ratios that each take seconds, in different ways: each is answered, or told that there is no time.
func TestServedBusily(t *testing.T) {
	slowtest.Only(t)
	at := served(t)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			path := []string{"/rate?part=1&", "/rate?", "/pmf?"}[i%3]
			if i%3 == 2 {
				path += fmt.Sprintf("scores=0,-1,-%d&eps=0.%d", i, 1+i%7)
			} else {
				path += fmt.Sprintf("n=%d&k=%d&eps=0.%03d", 6+i%4, 6+i%5, 200+i)
			}
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			r, err := client.Get(at + path)
			if !assert.NoError(t, err, path) {
				return
			}
			defer r.Body.Close()
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err, path)
			assert.Contains(t, []int{200, 503}, r.StatusCode, "%s: %.300s", path, body)
			if i%3 == 0 {
				assert.Contains(t, string(body), `"more":false`, path)
			}
		})
	}
	all.Wait()
}

// TestServedJobEndsWithItsClient goes away while a job runs; another one then gets its turn.
func TestServedJobEndsWithItsClient(t *testing.T) {
	at := served(t)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	for range 8 {
		r, err := http.NewRequestWithContext(ctx, "GET", at+"/rate?part=1&n=12&k=12&eps=0.2", nil)
		require.NoError(t, err)
		go func() {
			if answer, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}()
	}
	<-ctx.Done()
	code, page := get(t, at+"/rate?n=2&k=1&eps=0.5")
	assert.Equal(t, 200, code)
	assert.Contains(t, page, "pf is optimal")
}

func TestServeRefusals(t *testing.T) {
	for _, line := range []string{"serve --addr nowhere", "serve --addr localhost:99999", "serve now"} {
		code, out, errs := quietly(strings.Fields(line)...)
		assert.Equal(t, command.Usage, code, line)
		assert.Empty(t, out)
		assert.Equal(t, 1, strings.Count(errs, "\n"))
	}
}

// TestServedSlowClients opens connections that never finish a request; others are answered meanwhile, and the server has a limit for each
// part of a request.
func TestServedSlowClients(t *testing.T) {
	at := served(t)
	request := "POST /audit HTTP/1.1\r\nHost: " + strings.TrimPrefix(at, "http://") + "\r\nContent-Length: 100\r\n\r\ntable="
	for i := range 100 {
		c, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
		require.NoError(t, err)
		defer c.Close()
		_, err = c.Write([]byte(request[:len(request)*i/100]))
		require.NoError(t, err)
	}
	code, page := get(t, at+"/rate?n=2&k=2&eps=0.5")
	assert.Equal(t, 200, code)
	assert.Contains(t, page, "pf is optimal")
	s := serve.New(serve.Config{Addr: "localhost:1"}).HTTP()
	for name, limit := range map[string]time.Duration{"header": s.ReadHeaderTimeout, "request": s.ReadTimeout, "answer": s.WriteTimeout, "idle": s.IdleTimeout} {
		assert.True(t, limit > 0 && limit <= 2*time.Minute, name)
	}
	assert.Positive(t, s.MaxHeaderBytes)
}

// A server that all machines can reach says so.
func TestServeEverywhere(t *testing.T) {
	for ip, want := range map[string]bool{"0.0.0.0": true, "::": true, "127.0.0.1": false, "::1": false, "192.0.2.1": false} {
		assert.Equal(t, want, everywhere(&net.TCPAddr{IP: net.ParseIP(ip), Port: 80}), ip)
	}
}
