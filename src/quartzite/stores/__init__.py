"""Job stores: where jobs, triggers and firings are kept."""
