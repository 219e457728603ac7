import net
def main():  # [31mred | "quoted"
