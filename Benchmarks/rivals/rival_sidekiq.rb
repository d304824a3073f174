require 'sidekiq'

# Says what it will do in later versions, once a call otherwise.
Redis.sadd_returns_boolean = false if Redis.respond_to?(:sadd_returns_boolean=)

Sidekiq.configure_server do |config|
  config.redis = { url: ENV.fetch('RIVAL_URL') }
  config.logger.level = Logger::ERROR
end
Sidekiq.configure_client { |config| config.redis = { url: ENV.fetch('RIVAL_URL') } }

MARKS = File.open(ENV.fetch('RIVAL_MARKS'), 'a')
MARKS.sync = true

class Noop
  include Sidekiq::Worker
  sidekiq_options retry: 3

  def perform(_padding)
    MARKS.syswrite('.')
  end
end
