// A crowd on an engine's own threads: each frame is split into parts, which a job system runs.
#include <atomic>
#include <cinttypes>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <phalanx.hpp>
#include <thread>
#include <vector>

static void print(phx::text message) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
}

/// Workers that wait for a job of numbered parts: what an engine has already.
class jobs {
  public:
    explicit jobs(unsigned workers) {
        for (unsigned i = 0; i < workers; i++) {
            threads_.emplace_back([this] { work(); });
        }
    }

    ~jobs() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
        }
        begin_.notify_all();
        for (auto &thread : threads_) {
            thread.join();
        }
    }

    /// Calls `job` with every number below `parts` and returns when all calls have.
    void run(unsigned parts, const std::function<void(unsigned)> &job) {
        std::unique_lock<std::mutex> lock(mutex_);
        job_ = &job;
        parts_ = parts;
        next_ = 0;
        left_ = parts;
        begin_.notify_all();
        end_.wait(lock, [this] { return left_ == 0; });
    }

  private:
    void work() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            begin_.wait(lock, [this] { return stop_ || next_ < parts_; });
            if (stop_) {
                return;
            }
            const unsigned part = next_++;
            const auto *job = job_;
            lock.unlock();
            (*job)(part);
            lock.lock();
            if (--left_ == 0) {
                end_.notify_one();
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable begin_, end_;
    const std::function<void(unsigned)> *job_ = nullptr;
    unsigned parts_ = 0, next_ = 0, left_ = 0;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

int main() {
    auto rig = phx::rig::mannequin();
    rig.status().check(print);
    const auto info = rig->info();
    auto crowd = phx::crowd::make();
    crowd.status().check(print);
    const auto id = crowd->add(*rig);
    std::vector<phx_instance> all(500);
    crowd->spawn(*id, all).check(print);
    for (uint32_t i = 0; i < all.size(); i++) {
        phx::play_options options;
        options.time = i * 0.125;
        crowd->play(all[i], *crowd->clip_at(*id, i % info->clip_count), &options).check(print);
    }

    jobs workers(3);
    std::vector<phx_matrix> rows;
    phx::frame_options options;
    options.parts = 4;
    for (int frame = 0; frame < 60; frame++) {
        crowd->advance(1.0 / 60.0).check(print);
        const auto begin = [&] { return crowd->begin(rows.data(), rows.size() * sizeof(phx_matrix), &options); };
        auto scheduled = begin();
        if (scheduled.status().code() == PHX_ERROR_SHORT) { // the first frame: it says how much memory there is to be
            rows.resize(scheduled->stats().bytes / sizeof(phx_matrix));
            scheduled = begin();
        }
        scheduled.status().check(print);
        std::atomic<bool> failed{false};
        workers.run(scheduled->stats().parts, [&](unsigned part) {
            if (!scheduled->part(part)) {
                failed = true;
            }
        });
        scheduled->end().check(print);
        if (failed) {
            return 1;
        }
    }

    uint64_t hash = 0xcbf29ce484222325; // FNV-1a of all rows
    for (const unsigned char byte : phx::span(reinterpret_cast<const unsigned char *>(rows.data()), rows.size() * sizeof(phx_matrix))) {
        hash = (hash ^ byte) * 0x100000001b3;
    }
    std::printf("%zu characters of %" PRIu32 " joints, %zu rows, hash %016" PRIx64 "\n", all.size(), info->joint_count,
                rows.size(), hash);
}
