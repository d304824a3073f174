require_relative 'rival_sidekiq'

jobs = ENV.fetch('RIVAL_JOBS').to_i
start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
left = jobs
while left.positive?
  count = [left, 1000].min
  Sidekiq::Client.push_bulk('class' => Noop, 'args' => Array.new(count) { ['x' * 10] })
  left -= count
end
puts jobs / (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start)
