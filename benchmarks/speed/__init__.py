"""How fast it is: latency, throughput, memory and start-up by size, beside rivals."""
