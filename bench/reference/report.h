// Times to numbers: a table on stdout, and one JSON object a line for programs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

inline double now_us() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

struct Result {
    std::string row, size, mode;
    std::vector<double> samples;  // microseconds a frame
    int frames_per_sample = 1;
    int age = 0;             // frames the compute side is ahead of what is drawn, at most
    long wrong = -1;         // pixels that differ from what they must be; -1: the row shows nothing that could differ
};

class Report {
  public:
    ~Report() {
        if (json_) fclose(json_);
    }

    void open(const std::string& path) {
        json_ = fopen(path.c_str(), "w");
        if (!json_) fprintf(stderr, "%s cannot be written\n", path.c_str());
    }

    void head(const std::string& text) {
        printf("\n%s\n%-74s %-5s %-10s %9s %9s %6s %5s %4s  %s\n", text.c_str(), "row", "size", "mode", "median us",
               "p99 us", "floor", "n", "age", "pixels");
    }

    // `floor` of a size and mode, once known, gives every later row its ratio.
    void set_floor(const std::string& size, const std::string& mode, double us) { floors_[size + mode] = us; }

    double add(const Result& r) {
        std::vector<double> sorted = r.samples;
        std::sort(sorted.begin(), sorted.end());
        const double median = at(sorted, 0.5), p99 = at(sorted, 0.99);
        const auto floor = floors_.find(r.size + r.mode);
        char ratio[16] = "-";
        if (floor != floors_.end()) snprintf(ratio, sizeof ratio, "%.2fx", median / floor->second);
        const std::string pixels = r.wrong < 0 ? "-" : r.wrong == 0 ? "right" : "WRONG " + std::to_string(r.wrong);
        printf("%-74s %-5s %-10s %9.1f %9.1f %6s %5zu %4d  %s\n", r.row.c_str(), r.size.c_str(), r.mode.c_str(),
               median, p99, ratio, r.samples.size(), r.age, pixels.c_str());
        fflush(stdout);
        if (!json_) return median;
        fprintf(json_,
                "{\"who\":\"hand-written\",\"row\":\"%s\",\"size\":\"%s\",\"mode\":\"%s\",\"median_us\":%.2f,"
                "\"p99_us\":%.2f,\"n\":%zu,\"frames_per_sample\":%d,\"age_frames\":%d,\"pixels\":\"%s\",\"samples\":[",
                r.row.c_str(), r.size.c_str(), r.mode.c_str(), median, p99, r.samples.size(), r.frames_per_sample,
                r.age, r.wrong < 0 ? "unchecked" : r.wrong == 0 ? "right" : "WRONG");
        for (size_t i = 0; i < r.samples.size(); ++i) fprintf(json_, "%s%.2f", i ? "," : "", r.samples[i]);
        fprintf(json_, "]}\n");
        fflush(json_);
        return median;
    }

    void unavailable(const std::string& row, const std::string& size, const std::string& why) {
        printf("%-74s %-5s unavailable: %s\n", row.c_str(), size.c_str(), why.c_str());
        fflush(stdout);
    }

  private:
    static double at(const std::vector<double>& sorted, double quantile) {
        if (sorted.empty()) return 0;
        const size_t i = static_cast<size_t>(quantile * static_cast<double>(sorted.size()));
        return sorted[std::min(i, sorted.size() - 1)];
    }

    FILE* json_ = nullptr;
    std::map<std::string, double> floors_;
};
