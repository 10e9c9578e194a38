/// An atomic operation in Redis. Every script uses the time of Redis, so that the servers' clocks do not matter.
///
/// The scripts run on Redis 6.2 and newer, and on Valkey.
struct FleetScript: Hashable, Sendable {
    let text: String
    /// The key under which ``FleetCommands`` keeps the script's digest.
    let name: String

    private init(_ name: String, _ text: String) { (self.name, self.text) = (name, Self.common + text) }

    private static let common = """
        local function now()
            local time = redis.call('TIME')
            return time[1] * 1000 + math.floor(time[2] / 1000)
        end
        local function latest(purges)
            local last = redis.call('ZREVRANGE', purges, 0, 0, 'WITHSCORES')
            return tonumber(last[2] or '0')
        end
        -- The highest time that any server was given for the beginning of its work. A clock that is set back does not
        -- lower it.
        local function highest(clock) return tonumber(redis.call('GET', clock) or '0') end
        local function give(clock, time)
            if time > highest(clock) then redis.call('SET', clock, string.format('%.0f', time)) end
        end
        -- The name of the list and its score. The list is created if there is none.
        local function head(purges, name)
            local first = redis.call('ZRANGE', purges, 0, 0, 'WITHSCORES')
            if first[1] then return first[1], tonumber(first[2]) end
            local list = 'list:' .. name .. ':' .. string.format('%.0f', now() - 1)
            redis.call('ZADD', purges, 0, list)
            return list, 0
        end

        """

    /// Asks for a result or for the lock.
    ///
    /// Keys: lock, result, failure of the source, purges, clock. Arguments: token, lease in ms, time up to which outcomes do
    /// not count, name for a new list. Answer: `known`, `lead` or `taken`; latest purge; name of the list of purges;
    /// now; and last the outcome, the time at which the work begins, or the ms for which the lock is held.
    ///
    /// A result comes before a failure of its source, which another result may have had; a failure before the news that
    /// the result is not shared.
    ///
    /// The work begins after the latest purge, even if that is in the future of this Redis server's clock, because
    /// another server set its time before a failover. Asking again with the same token, after an answer that was lost,
    /// gives the same answer.
    static let begin = FleetScript(
        "begin",
        """
        local list = head(KEYS[4], ARGV[4])
        local last, time = latest(KEYS[4]), now()
        local known = {}
        for index = 2, 3 do
            local kind, begun = string.match(redis.call('GETRANGE', KEYS[index], 0, 31), '^(%a)(%d+) ')
            if kind and tonumber(begun) > tonumber(ARGV[3]) then known[index] = kind end
        end
        local index = known[2] and (known[2] == 'r' or not known[3]) and 2 or known[3] and 3
        if index then return {'known', last, list, time, redis.call('GET', KEYS[index])} end
        if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) or redis.call('GET', KEYS[1]) == ARGV[1] then
            local begun = math.max(time, last + 1)
            give(KEYS[5], begun)
            return {'lead', last, list, time, begun}
        end
        return {'taken', last, list, time, redis.call('PTTL', KEYS[1])}
        """)

    /// Extends the lease of the lock. Keys: lock. Arguments: token, lease in ms. Answer: whether the token still holds
    /// the lock.
    static let renew = FleetScript(
        "renew",
        """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        return 1
        """)

    /// Releases the lock, and shares the outcome of the work. The outcome may have been purged meanwhile, which other
    /// servers recognize by the time at which the work began. It is therefore shared even if the lock was lost, unless
    /// a newer outcome exists. That a result is not shared replaces only outcomes that a purge has made useless.
    ///
    /// Keys: lock, outcome. Arguments: token, outcome or nothing, time at which the work began, life of the outcome in
    /// ms, channel, time up to which outcomes do not count. Answer: whether the token held the lock.
    static let finish = FleetScript(
        "finish",
        """
        local isOurs = redis.call('GET', KEYS[1]) == ARGV[1]
        if isOurs then redis.call('DEL', KEYS[1]) end
        if ARGV[2] ~= '' then
            local other = redis.call('GETRANGE', KEYS[2], 0, 31)
            local begun = tonumber(string.match(other, '^%a(%d+) ') or '-1')
            local isNews = string.sub(ARGV[2], 1, 1) ~= 'u' or begun <= tonumber(ARGV[6])
            local isBetter = begun < tonumber(ARGV[3]) and isNews
            if other == '' or isBetter then
                redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[4])
                redis.call('PUBLISH', ARGV[5], '1')
                return isOurs and 1 or 0
            end
        end
        if isOurs then redis.call('PUBLISH', ARGV[5], '1') end
        return isOurs and 1 or 0
        """)

    /// Adds purges, each with a later time than all earlier ones, so that a server can continue reading after the last
    /// one that it has. None has an earlier time than work that has begun, even if the clock was set back.
    ///
    /// The list has one more member, `list:NAME:TIME`. It changes when the list is created anew, at that time; its score
    /// is the time of the latest purge that was dropped. Keys: purges, clock. Arguments: name for a new list, life in ms, most purges,
    /// channel, members. Answer: the time of the last purge.
    static let purge = FleetScript(
        "purge",
        """
        local name = head(KEYS[1], ARGV[1])
        local time = math.max(now(), latest(KEYS[1]) + 1, highest(KEYS[2]))
        for index = 5, #ARGV do
            redis.call('ZADD', KEYS[1], time, ARGV[index])
            time = time + 1
        end
        local dropped = redis.call('ZREVRANGEBYSCORE', KEYS[1], now() - ARGV[2], 1, 'WITHSCORES', 'LIMIT', 0, 1)[2]
        local over = redis.call('ZCARD', KEYS[1]) - 1 - ARGV[3]
        if over > 0 then
            local last = redis.call('ZRANGE', KEYS[1], over, over, 'WITHSCORES')[2]
            if not dropped or tonumber(last) > tonumber(dropped) then dropped = last end
        end
        if dropped then
            redis.call('ZREMRANGEBYSCORE', KEYS[1], 1, dropped)
            redis.call('ZADD', KEYS[1], dropped, name)
        end
        redis.call('PUBLISH', ARGV[4], '1')
        return time - 1
        """)

    /// Restores purges that Redis has lost. They get the current time, so that servers that have read further also read
    /// them; existing ones stay unchanged, so that several servers may do this at once.
    ///
    /// Keys: purges, clock. Arguments: name for a new list, channel, then time and member of each.
    static let restore = FleetScript(
        "restore",
        """
        local _, dropped = head(KEYS[1], ARGV[1])
        local first = math.max(now(), latest(KEYS[1]) + 1, highest(KEYS[2]))
        local time = first
        for index = 3, #ARGV, 2 do
            local was, is = tonumber(ARGV[index]), redis.call('ZSCORE', KEYS[1], ARGV[index + 1])
            if was > dropped and (not is or tonumber(is) < was) then
                time = math.max(time, was)
                redis.call('ZADD', KEYS[1], time, ARGV[index + 1])
                time = time + 1
            end
        end
        if time > first then redis.call('PUBLISH', ARGV[2], '1') end
        return 'OK'
        """)

    /// Returns the purges since a server's last reading, and registers the server as alive.
    ///
    /// Keys: purges, servers, clock. Arguments: name for a new list, time of the last purge that the server has, most at a time,
    /// name of the server, ms after which a server is gone. Answer: now, name of the list, time up to which purges were
    /// dropped, which run of Redis this is, servers, latest purge, members with their times.
    ///
    /// The run comes from INFO, a `@dangerous` command that many users of Redis may not run. The run is then empty.
    static let read = FleetScript(
        "read",
        """
        local time = now()
        local list, dropped = head(KEYS[1], ARGV[1])
        -- What is read now may be used for work of this time.
        give(KEYS[3], time)
        redis.call('ZADD', KEYS[2], time, ARGV[4])
        redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', time - ARGV[5])
        local from = '(' .. string.format('%.0f', math.max(tonumber(ARGV[2]), dropped))
        local info = redis.pcall('INFO', 'server')
        return {
            time, list, dropped, type(info) == 'string' and string.match(info, 'run_id:(%x+)') or '',
            redis.call('ZCARD', KEYS[2]), latest(KEYS[1]),
            redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3]),
        }
        """)

    /// Counts a request of a client (the generic cell rate algorithm). Keys: rate. Arguments: interval between two
    /// requests and tolerance, both in us. Answer: 0, or the us to wait. The key expires when it no longer limits
    /// anything.
    static let rate = FleetScript(
        "rate",
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local due = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
        local wait = due - now - ARGV[2]
        if wait > 0 then return wait end
        due = due + ARGV[1]
        redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000) + 1)
        return 0
        """)
}
