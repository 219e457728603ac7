#include "recorder/log/inputs.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

InputTexts texts_of(const InputsWriter& writer) {
  InputTexts texts;
  append_input_texts({writer.data(), writer.size()}, {"unsigned char", "long int", "float"}, texts);
  return texts;
}

/// The texts of what `write` writes.
InputTexts texts_of(const std::function<void(InputsWriter&)>& write) {
  InputsWriter writer;
  write(writer);
  return texts_of(writer);
}

/// The text of one value, without `["` and `"]`.
std::string concrete(const std::function<void(InputsWriter&)>& write) {
  const InputTexts texts = texts_of(write);
  EXPECT_EQ(texts.types, "[\"Scalar\"]");
  EXPECT_EQ(texts.dims, "[[]]");
  EXPECT_EQ(texts.strides, "[[]]");
  return texts.concrete.size() < 4 ? "none" : texts.concrete.substr(2, texts.concrete.size() - 4);
}

std::string real_text(double value) {
  return concrete([value](InputsWriter& writer) { writer.real(value); });
}

std::string complex_text(double real, double imaginary) {
  return concrete([&](InputsWriter& writer) { writer.complex(real, imaginary); });
}

TEST(Inputs, OfNothingAreEmptyLists) {
  const InputTexts texts = texts_of([](InputsWriter&) {});
  EXPECT_EQ(texts.dims, "[]");
  EXPECT_EQ(texts.strides, "[]");
  EXPECT_EQ(texts.types, "[]");
  EXPECT_EQ(texts.concrete, "[]");
}

TEST(Inputs, OfAllKindsAreToldAsTorchTellsThem) {
  const InputTexts texts = texts_of([](InputsWriter& writer) {
    writer.tensor(2, Sizes{32, 28}, Sizes{28, 1});
    writer.sparse_tensor(1, Sizes{2, 3});
    writer.tensor(2, {}, {});
    writer.integer(1);
    writer.boolean(true);
    writer.boolean(false);
    writer.real(0.5);
    writer.complex(1, 2);
    writer.nothing();
    writer.list(2);
    writer.integer(1);
    writer.integer(2);
    writer.list(0);
    writer.tensor_list(2);
    writer.tensor(0, Sizes{2, 2}, Sizes{2, 1});
    writer.sparse_tensor(0, Sizes{5});
    writer.tensor_list(0);
  });
  EXPECT_EQ(texts.dims,
            "[[32, 28], [2, 3], [], [], [], [], [], [], [], [], [], [[2, 2], [5]], []]");
  EXPECT_EQ(texts.strides, "[[28, 1], [], [], [], [], [], [], [], [], [], [], [[2, 1], []], []]");
  EXPECT_EQ(texts.types,
            R"(["float", "long int", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", )"
            R"("", "ScalarList", "ScalarList", "TensorList", "TensorList"])");
  EXPECT_EQ(texts.concrete,
            R"(["", "", "", "1", "True", "False", "0.5", "1.+2.j", "", "[1, 2]", "[]", "", ""])");
}

// The texts below are those of torch 2.13.

TEST(Inputs, WholeNumbersEndInAPoint) {
  EXPECT_EQ(real_text(1), "1.");
  EXPECT_EQ(real_text(-3), "-3.");
  EXPECT_EQ(real_text(0.), "0.");
  EXPECT_EQ(real_text(-0.), "0.");
  EXPECT_EQ(real_text(1e10), "10000000000.");
  EXPECT_EQ(real_text(1e17), "100000000000000000.");
  EXPECT_EQ(real_text(-0x1p63), "-9223372036854775808.");
  EXPECT_EQ(real_text(0x1p63), "9.2233720368547758e+18");
  EXPECT_EQ(real_text(1e22), "1e+22");
}

TEST(Inputs, OtherRealsHaveAllTheirDigits) {
  EXPECT_EQ(real_text(0.1), "0.10000000000000001");
  EXPECT_EQ(real_text(0.0001), "0.0001");
  EXPECT_EQ(real_text(1e-5), "1.0000000000000001e-05");
  EXPECT_EQ(real_text(9999999999.5), "9999999999.5");
  EXPECT_EQ(real_text(1e300), "1.0000000000000001e+300");
  EXPECT_EQ(real_text(-1e300), "-1.0000000000000001e+300");
  EXPECT_EQ(real_text(5e-324), "4.9406564584124654e-324");
  EXPECT_EQ(real_text(kInfinity), "inf");
  EXPECT_EQ(real_text(-kInfinity), "-inf");
  EXPECT_EQ(real_text(std::nan("")), "nan");
}

TEST(Inputs, RealsAreReadBackAsTheyWere) {
  double value = 1.1e-300;
  for (int step = 0; step < 60; ++step) {
    value *= 3.7e9;
    EXPECT_EQ(std::stod(real_text(value)), value);
    EXPECT_EQ(std::stod(real_text(-value)), -value);
  }
}

TEST(Inputs, ComplexNumbersHaveTheirSignInTheMiddle) {
  EXPECT_EQ(complex_text(1, 2), "1.+2.j");
  EXPECT_EQ(complex_text(1, -2), "1.-2.j");
  EXPECT_EQ(complex_text(-0., -0.), "0.+0.j");
  EXPECT_EQ(complex_text(0.5, -kInfinity), "0.5-infj");
  EXPECT_EQ(complex_text(0, 1e300), "0.+1.0000000000000001e+300j");
  EXPECT_EQ(complex_text(1, -5e-324), "1.-4.9406564584124654e-324j");
  EXPECT_EQ(complex_text(std::nan(""), std::nan("")), "nan-nanj");
}

TEST(Inputs, IntegersOfAllSizes) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, std::int64_t{64}, std::int64_t{-64},
        std::int64_t{-65}, std::int64_t{1} << 40, kLeast, kMost}) {
    EXPECT_EQ(concrete([value](InputsWriter& writer) { writer.integer(value); }),
              std::to_string(value));
  }
}

TEST(Inputs, ListsOfScalarsOfAllKinds) {
  const InputTexts texts = texts_of([](InputsWriter& writer) {
    writer.list(5);
    writer.real(1);
    writer.real(0.1);
    writer.boolean(true);
    writer.complex(1, -2);
    writer.integer(-7);
    writer.list(1);
    writer.boolean(false);
  });
  EXPECT_EQ(texts.concrete, R"(["[1., 0.10000000000000001, True, 1.-2.j, -7]", "[False]"])");
  EXPECT_EQ(texts.types, R"(["ScalarList", "ScalarList"])");
  EXPECT_EQ(texts.dims, "[[], []]");
}

TEST(Inputs, ListsOfMoreThanThirtyTensorsShowNoShapes) {
  for (const std::size_t count : {kLongestList, kLongestList + 1, std::size_t{5000}}) {
    const InputTexts texts = texts_of([count](InputsWriter& writer) {
      writer.tensor_list(count);
      for (std::size_t member = 0; member < count; ++member) {
        if (member % 3 == 0) {
          writer.sparse_tensor(0, Sizes{4});
        } else if (member % 3 == 1) {
          writer.nothing();
        } else {
          writer.tensor(0, Sizes{2}, Sizes{1});
        }
      }
      writer.integer(5);
    });
    std::string dims;
    std::string strides;
    for (std::size_t member = 0; member < 10 && count <= kLongestList; ++member) {
      dims += std::string(member > 0 ? ", " : "") + "[4], [], [2]";
      strides += std::string(member > 0 ? ", " : "") + "[], [], [1]";
    }
    EXPECT_EQ(texts.dims, "[[" + dims + "], []]");
    EXPECT_EQ(texts.strides, "[[" + strides + "], []]");
    EXPECT_EQ(texts.types, R"(["TensorList", "Scalar"])");
    EXPECT_EQ(texts.concrete, R"(["", "5"])");
  }
}

TEST(Inputs, LargeSizesAndNegativeStridesAreKept) {
  const InputTexts texts = texts_of([](InputsWriter& writer) {
    writer.tensor(2, Sizes{0, 127, 128, 16'384, kMost}, Sizes{-1, -64, 64, kLeast, kMost});
  });
  EXPECT_EQ(texts.dims, "[[0, 127, 128, 16384, 9223372036854775807]]");
  EXPECT_EQ(texts.strides, "[[-1, -64, 64, -9223372036854775808, 9223372036854775807]]");
}

TEST(Inputs, ElementTypesWithoutANameAreLeftOpen) {
  const InputTexts texts = texts_of([](InputsWriter& writer) {
    writer.tensor(3, Sizes{1}, Sizes{1});
    writer.sparse_tensor(255, Sizes{1});
    writer.tensor(0, Sizes{1}, Sizes{1});
  });
  EXPECT_EQ(texts.types, R"(["", "", "unsigned char"])");
  EXPECT_EQ(texts.dims, "[[1], [1], [1]]");
}

TEST(Inputs, MoreThanAKilobyteIsKeptWhole) {
  InputsWriter writer;
  std::string dims = "[";
  std::string values = "[";
  for (std::int64_t at = 0; at < 3000; ++at) {
    const Sizes sizes(static_cast<std::size_t>(at % 9), kMost - at);
    writer.tensor(2, sizes, sizes);
    writer.integer(at);
    writer.real(0.5);
    std::string shape;
    for (const std::int64_t size : sizes) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    }
    dims += (at > 0 ? ", [" : "[") + shape + "], [], []";
    values += (at > 0 ? ", \"\", \"" : "\"\", \"") + std::to_string(at) + "\", \"0.5\"";
  }
  EXPECT_GT(writer.size(), 100'000U);
  const InputTexts texts = texts_of(writer);
  EXPECT_TRUE(texts.dims == dims + "]");
  EXPECT_TRUE(texts.strides == dims + "]");
  EXPECT_TRUE(texts.concrete == values + "]");
}

TEST(Inputs, OneThatFillsTheRoomOfAWriterExactly) {
  for (std::size_t before = 900; before < 1030; ++before) {
    InputsWriter writer;
    for (std::size_t at = 0; at < before; ++at) writer.nothing();
    writer.complex(1, 2);
    writer.tensor(2, Sizes{kMost}, Sizes{kLeast});
    std::string expected = "[";
    for (std::size_t at = 0; at < before; ++at) expected += "\"\", ";
    EXPECT_TRUE(texts_of(writer).concrete == expected + "\"1.+2.j\", \"\"]") << before;
  }
}

TEST(Inputs, NamesOfTypesAreEscaped) {
  InputsWriter writer;
  writer.tensor(0, Sizes{1}, Sizes{1});
  InputTexts texts;
  append_input_texts({writer.data(), writer.size()}, {"a\"b\\c\n"}, texts);
  EXPECT_EQ(texts.types, R"(["a\"b\\c\n"])");
}

}  // namespace
}  // namespace tbtrace::recorder
