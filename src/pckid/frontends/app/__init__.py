"""The app: cluster a table in the browser, on one's own machine; `pckid app` starts it."""
