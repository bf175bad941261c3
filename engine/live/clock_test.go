package live

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herdscope/engine/clock"
)

func seconds(n int) clock.Instant { return clock.Instant(n) * clock.Instant(time.Second) }

func TestClockIsTheWallClockMinusPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock()
		expect := func(want clock.Instant) {
			t.Helper()
			if got := c.Now(); got != want {
				t.Errorf("run clock is at %v, want %v", got.Duration(), want.Duration())
			}
		}
		time.Sleep(time.Minute)
		expect(0)
		c.Resume()
		time.Sleep(3 * time.Second)
		expect(seconds(3))
		c.Pause()
		c.Pause()
		time.Sleep(time.Hour)
		expect(seconds(3))
		c.Resume()
		c.Resume()
		time.Sleep(2 * time.Second)
		expect(seconds(5))
	})
}

func TestClockEpochIsFixedWhenMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := time.Now()
		c := NewClock()
		time.Sleep(time.Second)
		c.Resume()
		c.Pause()
		time.Sleep(time.Second)
		if !c.Epoch().Equal(made) || c.EpochUnixNanos() != made.UnixNano() {
			t.Errorf("epoch is %v, want %v", c.Epoch(), made)
		}
	})
}

func TestWaitFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock()
		_, running, changed := c.Wait(seconds(4))
		if running {
			t.Error("a new clock runs")
		}
		c.Resume()
		<-changed
		time.Sleep(time.Second)
		d, running, changed := c.Wait(seconds(4))
		if d != 3*time.Second || !running {
			t.Errorf("waits %v (running %v), want 3s", d, running)
		}
		if d, _, _ := c.Wait(0); d != -time.Second {
			t.Errorf("waits %v for an instant a second ago", d)
		}
		c.Pause()
		<-changed
	})
}

func TestSleepUntilSleepsThroughPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock()
		begun := time.Now()
		go func() {
			time.Sleep(time.Second)
			c.Resume()
			time.Sleep(time.Second)
			c.Pause()
			time.Sleep(5 * time.Second)
			c.Resume()
		}()
		if err := c.SleepUntil(context.Background(), seconds(3)); err != nil {
			t.Fatal(err)
		}
		if slept := time.Since(begun); slept != 9*time.Second {
			t.Errorf("slept %v, want 9s: three of the run, six paused", slept)
		}
	})
}

func TestSleepUntilEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := NewClock().SleepUntil(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestBeginLeavesAHandsPauseAlone(t *testing.T) {
	c := NewClock()
	c.Pause()
	c.begin()
	if !c.Paused() {
		t.Error("the clock was started although a hand had paused it")
	}
	c.Resume()
	if c.Paused() {
		t.Error("the hand cannot start the clock")
	}
}

func TestClockNeverGoesBack(t *testing.T) {
	c := NewClock()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	var mu sync.Mutex
	var latest clock.Instant
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				before := latest
				mu.Unlock()
				now := c.Now()
				if now < before {
					t.Errorf("read %d after %d", now, before)
					return
				}
				mu.Lock()
				latest = max(latest, now)
				mu.Unlock()
			}
		})
	}
	for range 2000 {
		c.Resume()
		c.Pause()
	}
	close(stop)
	readers.Wait()
}
