// The C++ peer: Apache's libthrift with the templated transport, the fastest that it has. The benchmark compiles it, and
// asks it questions on its standard input, one a line:
//
//   load STRUCT PROTOCOL SIZE   then SIZE bytes: the struct that the next questions are about; answers "ok SIZE" after writing it
//   write RUNS, read RUNS       answers "ok NANOSECONDS OBJECTS BYTES": CPU time of the process, and what was allocated
//
// A question that goes wrong is answered by "error TEXT".

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include "gen/bench_types.h"

using apache::thrift::TConfiguration;
using apache::thrift::protocol::TBinaryProtocolT;
using apache::thrift::protocol::TCompactProtocolT;
using apache::thrift::transport::TMemoryBuffer;

static uint64_t objects, bytes;

void* operator new(std::size_t n) {
  objects++;
  bytes += n;
  if (void* p = std::malloc(n)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

// Memory is a memory buffer that can be read again and again: the limit on the bytes of a message counts from each start.
class Memory : public TMemoryBuffer {
public:
  explicit Memory(std::shared_ptr<TConfiguration> config) : TMemoryBuffer(config) {}
  Memory(uint8_t* data, uint32_t size, std::shared_ptr<TConfiguration> config)
    : TMemoryBuffer(data, size, TMemoryBuffer::OBSERVE, config), data_(data), size_(size) {}
  void again() {
    rBase_ = data_;
    rBound_ = data_ + size_;
    resetConsumedMessageSize();
  }

private:
  uint8_t* data_ = nullptr;
  uint32_t size_ = 0;
};

class Case {
public:
  virtual ~Case() = default;
  virtual uint32_t write(long runs) = 0;
  virtual void read(long runs) = 0;
};

template <class Struct, class Protocol>
class CaseOf : public Case {
public:
  explicit CaseOf(std::vector<uint8_t> data) : data_(std::move(data)) {
    auto config = std::make_shared<TConfiguration>(1 << 30, 1 << 30);
    out_ = std::make_shared<Memory>(config);
    in_ = std::make_shared<Memory>(data_.data(), data_.size(), config);
    writer_ = std::make_unique<Protocol>(out_);
    reader_ = std::make_unique<Protocol>(in_);
    in_->again();
    value_.read(reader_.get());
  }
  uint32_t write(long runs) override {
    for (long i = 0; i < runs; i++) {
      out_->resetBuffer();
      value_.write(writer_.get());
    }
    return out_->available_read();
  }
  void read(long runs) override {
    for (long i = 0; i < runs; i++) {
      in_->again();
      Struct value;
      value.read(reader_.get());
    }
  }

private:
  std::vector<uint8_t> data_;
  std::shared_ptr<Memory> in_, out_;
  std::unique_ptr<Protocol> reader_, writer_;
  Struct value_;
};

template <class Struct>
static std::unique_ptr<Case> make(const std::string& protocol, std::vector<uint8_t> data) {
  if (protocol == "cmp") return std::make_unique<CaseOf<Struct, TCompactProtocolT<Memory>>>(std::move(data));
  if (protocol == "bin") return std::make_unique<CaseOf<Struct, TBinaryProtocolT<Memory>>>(std::move(data));
  throw std::runtime_error("no protocol " + protocol);
}

static std::unique_ptr<Case> load(const std::string& name, const std::string& protocol, std::vector<uint8_t> data) {
  if (name == "OneOfEach") return make<OneOfEach>(protocol, std::move(data));
  if (name == "Nested4") return make<Nested4>(protocol, std::move(data));
  if (name == "Bulk") return make<Bulk>(protocol, std::move(data));
  throw std::runtime_error("no struct " + name);
}

static int64_t cpuTime() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

static void answer(std::unique_ptr<Case>& current, const std::string& question) {
  if (question == "load") {
    std::string name, protocol;
    size_t size = 0;
    std::cin >> name >> protocol >> size;
    std::cin.get();
    std::vector<uint8_t> data(size);
    std::cin.read(reinterpret_cast<char*>(data.data()), std::streamsize(size));
    current = load(name, protocol, std::move(data));
    std::cout << "ok " << current->write(1) << std::endl;
    return;
  }
  long runs = 0;
  std::cin >> runs;
  if (!current) throw std::runtime_error("nothing is loaded");
  const uint64_t objectsBefore = objects, bytesBefore = bytes;
  const int64_t start = cpuTime();
  if (question == "write") {
    current->write(runs);
  } else if (question == "read") {
    current->read(runs);
  } else {
    throw std::runtime_error("no question " + question);
  }
  const int64_t spent = cpuTime() - start;
  std::cout << "ok " << spent << ' ' << objects - objectsBefore << ' ' << bytes - bytesBefore << std::endl;
}

int main() {
  std::ios::sync_with_stdio(false);
  std::unique_ptr<Case> current;
  for (std::string question; std::cin >> question;) {
    try {
      answer(current, question);
    } catch (const std::exception& e) {
      std::cout << "error " << e.what() << std::endl;
    }
  }
}
