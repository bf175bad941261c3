module example.test/client

go 1.26.0

require herdscope v0.0.0

replace herdscope => ../../../..
